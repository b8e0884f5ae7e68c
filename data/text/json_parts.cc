#include "data/text/json_parts.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {

using io::Member;
using Json = nlohmann::json;

constexpr size_t kMostShown = 8;

bool FlagOf(const Json& json, const char* key, const std::string& path, bool absent) {
  const Json& value = Member(json, key);
  Require(value.is_null() || value.is_boolean(), path, "requires true or false for {}, got {}", key,
          io::Brief(value));
  return value.is_null() ? absent : value == true;
}

std::string KindOf(const Json& part, const char* members) {
  const Json &type = Member(part, "type"), &list = Member(part, members);
  std::vector<std::string> kinds;
  if (list.is_array() && list.size() <= kMostShown)
    for (const Json& member : list) kinds.push_back(io::Brief(Member(member, "type")).text());
  const std::string kind = io::Brief(type).text();
  return kinds.empty() ? kind : fmt::format("{} of {}", kind, fmt::join(kinds, " and "));
}

}  // namespace torus::data
