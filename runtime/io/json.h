// JSON from files that anybody may have written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace torus::io {

// The object that `text` is. BadInput tagged `where` for anything else, with the byte where it is
// no UTF-8 JSON, and for one nested more than 64 deep: what copies or prints it calls itself.
nlohmann::json ParseJsonObject(std::string_view text, const std::string& where);

// That of a file of at most 64 MiB.
nlohmann::json ReadJsonObject(const std::string& path);

// The value of a key: null where it is absent, or where `value` is no object.
const nlohmann::json& Member(const nlohmann::json& value, const char* key);

// A value for a message: its first 100 bytes; of objects and lists the kind alone.
std::string Brief(const nlohmann::json& value);

// A name for a message: as it is where it has up to 100 printable ASCII characters, else as Brief
// has it.
std::string Printable(const std::string& name);

}  // namespace torus::io
