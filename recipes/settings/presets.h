// Presets: named settings of whole runs. ListPresets says which of them follow published settings;
// the others are common starting points.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// The preset if the command line has none of --model, --data and --preset.
inline constexpr char kDefaultPreset[] = "mobilenet_v2-fashion-mnist";

// Throws BadInput, listing the names, for an unknown name.
Settings PresetSettings(const std::string& name);

// One paragraph per preset: name, description, flags.
std::string ListPresets();

}  // namespace torus::recipes
