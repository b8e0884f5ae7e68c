// Reads JSON files that may be damaged or malicious.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace torus::io {

// Parses `text`, which must be a single JSON object. Throws BadInput tagged `where` otherwise,
// naming the byte at which JSON or UTF-8 is invalid. Also throws it for more than 64 levels of
// nesting, because copying and printing a value are recursive.
nlohmann::json ParseJsonObject(std::string_view text, const std::string& where);

// ParseJsonObject of a file of at most 64 MiB.
nlohmann::json ReadJsonObject(const std::string& path);

// The value of a key; null if it is absent or if `value` is not an object.
const nlohmann::json& Member(const nlohmann::json& value, const char* key);

// A value for messages: its first 100 bytes, or only the type for objects and arrays. The text is
// built only if the message is: Require(ok, path, "got {}", Brief(value)).
struct Brief {
  explicit Brief(const nlohmann::json& value) : value(value) {}
  std::string text() const;
  const nlohmann::json& value;
};

// A name for messages: unchanged if it is at most 100 printable ASCII characters, otherwise as
// Brief shows it.
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
