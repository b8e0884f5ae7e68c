// What the parsers of tokenizer.json share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace torus::data {

// A setting that is true or false, `absent` where there is none or null. Throws BadInput naming
// `path` for any other value.
bool FlagOf(const nlohmann::json& json, const char* key, const std::string& path,
            bool absent = false);

// What a part of a tokenizer is, for messages: "Sequence" of "Split" and "ByteLevel", where
// `members` is the key of a sequence's list.
std::string KindOf(const nlohmann::json& part, const char* members);

}  // namespace torus::data
