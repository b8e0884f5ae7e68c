// RunPlans: what the ranks of this process choose among the proposals of cuBLASLt and cuDNN, from
// where they have it, and where it is kept.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "ops/cuda/plans.h"
#include "parallel/trainer/trainer_options.h"
#include "recipes/run/run_folder.h"

namespace torus::recipes {

// Of a GPU of this machine; empty in a build without GPUs.
cuda::PlanOrigin PlanOriginHere(Device gpu);

struct RunPlansOptions {
  bool autotune = false;
  std::string plans;    // RunOptions::plans
  std::string resumed;  // the folder of the run that is resumed; empty: none
  bool alike = false;   // ranks must compute alike, so all take the choices of rank 0
};

class RunPlans {
 public:
  explicit RunPlans(RunPlansOptions options) : options_(std::move(options)) {}

  // TrainerOptions::thread_scope of ranks on GPUs. The first call of a rank reads what it begins
  // with; throws BadInput if that is damaged, or of another GPU or other libraries.
  std::shared_ptr<void> Use(const parallel::RankPlace& place, Device gpu);

  // Writes the file of each rank of this process, if it has chosen anything since the last call.
  // Without autotuning and choices there is a file only if there was one before. Not while ranks
  // compute.
  void Write(const RunFolder& folder);

  // Of all ranks of this process. Not while ranks compute.
  cuda::PlanCounts counts() const;

 private:
  struct OfRank {
    OfRank(const cuda::PlanOrigin& here, bool autotune, cuda::PlanChoices begin)
        : origin(here), plans(autotune, std::move(begin)) {}
    const cuda::PlanOrigin origin;
    cuda::Plans plans;
    std::string written;  // the file that has so many choices
    size_t choices = 0;
  };
  std::unique_ptr<OfRank> Begin(int rank, Device gpu) const;
  std::string BeginningOf(int rank) const;

  const RunPlansOptions options_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<OfRank>> ranks_;
};

}  // namespace torus::recipes
