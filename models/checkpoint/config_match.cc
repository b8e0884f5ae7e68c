#include "models/checkpoint/config_match.h"

#include <nlohmann/json.hpp>

#include "models/nn/activation.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {

using nlohmann::json;

void RequireSameFunction(const json& theirs, const json& ours,
                         const std::set<std::string>& may_differ, const std::string& activation,
                         const std::string& where) {
  const auto same = [&](const std::string& key, const json& a, const json& b) {
    if (a == b || key != activation) return a == b;
    return nn::ActivationByName(a, where) == nn::ActivationByName(b, where);
  };
  std::string problems;
  for (const auto& [key, wanted] : ours.items()) {
    if (may_differ.contains(key) || same(key, theirs.at(key), wanted)) continue;
    problems += fmt::format("{}{} is {} and must be {}", problems.empty() ? "" : "; ", key,
                            io::Brief(theirs.at(key)), io::Brief(wanted));
  }
  Require(problems.empty(), where, "config.json describes another model: {}", problems);
}

}  // namespace torus
