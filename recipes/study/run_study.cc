#include "recipes/study/run_study.h"

#include <fmt/format.h>

#include <set>

#include "runtime/error.h"

namespace torus::study {

std::vector<PlannedRun> SeedsInTurn(const std::vector<PlannedRun>& runs, int seeds) {
  Require(seeds >= 1 && seeds <= 1000, "study", "--seeds must be 1 to 1000, got {}", seeds);
  std::set<std::string> names;
  for (const PlannedRun& run : runs)
    Require(names.insert(run.name).second, "study", "has two runs of the name {}", run.name);
  std::vector<PlannedRun> all;
  for (int seed = 1; seed <= seeds; ++seed)
    for (const PlannedRun& run : runs)
      all.push_back({run.name, static_cast<uint64_t>(seed), run.settings});
  return all;
}

std::vector<FinishedRun> RunMissing(RunStore& store, const std::vector<PlannedRun>& runs,
                                    const RunFunction& carry_out,
                                    const std::function<void(const std::string&)>& tell) {
  std::vector<FinishedRun> done;
  const auto say = [&](const PlannedRun& run, const char* what) {
    if (tell)
      tell(fmt::format("run {} of {}: {}, seed {}: {}", done.size() + 1, runs.size(), run.name,
                       run.seed, what));
  };
  for (const PlannedRun& run : runs) {
    std::optional<nlohmann::json> result = store.Find(run);
    if (tell && !store.damage().empty()) tell(store.damage() + "; it is run anew");
    say(run, result ? "was done before" : "begins");
    if (!result) {
      result = carry_out(run, done);
      if (!result) return done;
      result = store.Save(run, *result);
    }
    done.push_back({run, std::move(*result)});
  }
  return done;
}

std::vector<double> ValuesOf(const std::vector<FinishedRun>& runs, const std::string& name,
                             const std::string& key) {
  std::vector<double> values;
  for (const FinishedRun& run : runs) {
    if (run.run.name != name) continue;
    const bool has =
        run.result.is_object() && run.result.contains(key) && run.result.at(key).is_number();
    Require(has, "study", "the run {}, seed {}, has no number {}", name, run.run.seed, key);
    values.push_back(run.result.at(key).get<double>());
  }
  return values;
}

}  // namespace torus::study
