// Settings as files hold them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// The version of the list of settings (settings.h); it increases with each new setting. Files
// without a version have 1.
inline constexpr int64_t kSettingsVersion = 34;

// Keys are the flags without dashes in front: {"batch-size": 256, ...}.
nlohmann::json ToJson(const Settings& settings);
// `version` is that of the list when the file was written. Strict: throws BadInput, prefixed with
// `where`, for a key that is missing, of the wrong type, or unknown (it names all unknown ones). A
// setting newer than `version` gets the value that corresponds to how runs behaved before it
// existed.
Settings SettingsFromJson(const nlohmann::json& json, const std::string& where,
                          int64_t version = kSettingsVersion);

}  // namespace torus::recipes
