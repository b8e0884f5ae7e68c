#include "recipes/run/run_plans.h"

#include <filesystem>
#include <utility>

#include "ops/cuda/plan_origin.h"
#include "recipes/run/plans_file.h"
#include "runtime/error.h"
#include "runtime/on_device.h"

namespace torus::recipes {
namespace {

namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

}  // namespace

cuda::PlanOrigin PlanOriginHere(Device gpu) {
  return OnDevice(
      gpu, [] { return cuda::PlanOrigin(); }, [&] { return cuda::OriginOf(gpu); });
}

// The file with the choices to begin with; empty for none.
std::string RunPlans::BeginningOf(int rank) const {
  const int source = options_.alike ? 0 : rank;
  if (options_.plans == "none") return "";
  if (!options_.resumed.empty()) {
    const std::string path = RunFolder{options_.resumed}.plans(source);
    return Exists(path) ? path : "";
  }
  std::error_code none;
  if (!fs::is_directory(options_.plans, none)) return options_.plans;
  const std::string path = RunFolder{options_.plans}.plans(source);
  Require(Exists(path), options_.plans, "has no choices of rank {}: --plans needs {}", source,
          path);
  return path;
}

std::unique_ptr<RunPlans::OfRank> RunPlans::Begin(int rank, Device gpu) const {
  const cuda::PlanOrigin here = PlanOriginHere(gpu);
  const std::string path = BeginningOf(rank);
  return std::make_unique<OfRank>(here, options_.autotune,
                                  path.empty() ? cuda::PlanChoices() : ReadPlansFor(here, path));
}

std::shared_ptr<void> RunPlans::Use(const parallel::RankPlace& place, Device gpu) {
  OfRank* own = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<OfRank>& known = ranks_[place.rank];
    if (known == nullptr) known = Begin(place.rank, gpu);
    own = known.get();
  }
  return std::make_shared<cuda::WithPlans>(&own->plans);
}

void RunPlans::Write(const RunFolder& folder) {
  for (auto& [rank, own] : ranks_) {
    const cuda::PlanChoices& choices = own->plans.choices();
    const std::string path = folder.plans(rank);
    const bool is_there = own->written == path && own->choices == choices.size();
    const bool has_none = choices.empty() && !options_.autotune && !Exists(path);
    if (is_there || has_none) continue;
    WritePlans(path, {own->origin, choices});
    own->written = path;
    own->choices = choices.size();
  }
}

cuda::PlanCounts RunPlans::counts() const {
  cuda::PlanCounts sum;
  for (const auto& [rank, own] : ranks_) sum.Add(own->plans.counts());
  return sum;
}

}  // namespace torus::recipes
