#include "runtime/io/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::io {
namespace {

using nlohmann::json;

constexpr int kDeepest = 64;
constexpr uint64_t kMostBytes = 64 << 20;

}  // namespace

json ParseJsonObject(std::string_view text, const std::string& where) {
  json value;
  try {
    value = json::parse(text, [&](int depth, json::parse_event_t, json&) {
      Require(depth <= kDeepest, where, "nests more than {} deep", kDeepest);
      return true;
    });
  } catch (const json::parse_error& error) {
    Throw<BadInput>(where, "is no UTF-8 JSON (at its byte {})", error.byte);
  } catch (const json::out_of_range&) {
    Throw<BadInput>(where, "has a number beyond those of f64");
  }
  Require(value.is_object(), where, "must be a JSON object, got {}", Brief(value));
  return value;
}

json ReadJsonObject(const std::string& path) {
  const InputFile file(path);
  Require(file.size() <= kMostBytes, path, "is larger than {} bytes", kMostBytes);
  return ParseJsonObject(file.ReadAll(), path);
}

const json& Member(const json& value, const char* key) {
  static const json none;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return found == value.end() ? none : *found;
}

std::string Brief::text() const {
  if (value.is_structured()) return value.is_object() ? "an object" : "a list";
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= 100 ? text : text.substr(0, 97) + "...";
}

std::string Printable::text() const {
  const bool plain =
      name.size() <= 100 && std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
  return plain ? name : Brief(name).text();
}

}  // namespace torus::io
