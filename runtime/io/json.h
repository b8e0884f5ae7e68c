// Reading JSON files that may be damaged or hostile.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace torus::io {

// Parses `text`, which must be one JSON object. BadInput tagged `where` for anything else, naming
// the byte at which JSON or UTF-8 is invalid; and for more than 64 levels of nesting, since copying
// and printing a value recurse into it.
nlohmann::json ParseJsonObject(std::string_view text, const std::string& where);

// ParseJsonObject of a file of at most 64 MiB.
nlohmann::json ReadJsonObject(const std::string& path);

// The value of a key: null where it is absent, or where `value` is no object.
const nlohmann::json& Member(const nlohmann::json& value, const char* key);

// A value as messages show it: its first 100 bytes; of objects and arrays the type alone. The text
// is made where the message is: Require(ok, path, "got {}", Brief(value)).
struct Brief {
  explicit Brief(const nlohmann::json& value) : value(value) {}
  std::string text() const;
  const nlohmann::json& value;
};

// A name as messages show it: unchanged where it has up to 100 printable ASCII characters,
// otherwise Brief of it.
struct Printable {
  explicit Printable(const std::string& name) : name(name) {}
  std::string text() const;
  const std::string& name;
};

}  // namespace torus::io

template <>
struct fmt::formatter<torus::io::Brief> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::io::Brief& brief, Context& context) const {
    return fmt::formatter<std::string>::format(brief.text(), context);
  }
};

template <>
struct fmt::formatter<torus::io::Printable> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::io::Printable& printable, Context& context) const {
    return fmt::formatter<std::string>::format(printable.text(), context);
  }
};
