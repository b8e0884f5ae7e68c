#include "recipes/run/shared_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

namespace torus::recipes {

std::vector<std::pair<std::string, std::string>> SharedFacts(const RunOptions& options,
                                                             const Settings& completed,
                                                             const TaskData& data) {
  static const std::set<std::string_view> kOfAHost{"--data-dir", "--vocab-dir", "--codec-folder"};
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const char* name, const auto& value) {
    facts.emplace_back(name, fmt::format("{}", value));
  };
  ForEachSetting(completed, [&](const char* flag, const auto& value) {
    if (!kOfAHost.contains(flag)) add(flag, value);
  });
  add("--max-steps", options.max_steps);
  add("--checkpoint-every", options.checkpoint_every);
  add("--eval-every", options.eval_every);
  add("--keep", options.keep);
  for (const auto& [part, name] : {std::pair{&data.train, "training"}, {&data.test, "test"}}) {
    add(fmt::format("{} examples", name).c_str(), part->size);
    add(fmt::format("order of the {} examples", name).c_str(), fmt::format("{:016x}", part->order));
  }
  return facts;
}

}  // namespace torus::recipes
