#include "tools/train/processes.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "parallel/transport/mpi/mpi_world.h"
#include "runtime/error.h"

namespace torus::tools {
namespace {

// The first of the variables that the environment has; null without them.
const char* Said(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const char* said = std::getenv(variable)) return said;
  return nullptr;
}

// The process's number, if it was started by OpenMPI's mpirun or PMIx.
const char* NumberSaid() { return Said({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}); }

// Each process of such a start would train the whole run by itself.
void RequireNoneAlone() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"}) {
    const char* const said = std::getenv(variable);
    const std::string_view count = said == nullptr ? "1" : said;
    Require(count == "1", "train",
            "{} processes were started ({}), but not so that they can find each other: start them "
            "by srun --mpi=pmix (srun --mpi=list says whether it can), or by OpenMPI's mpirun "
            "inside of the allocation",
            count, variable);
  }
}

}  // namespace

bool IsFirstProcess() {
  // Also of processes that cannot find each other one alone should say so.
  const char* const number =
      Said({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", "PMI_RANK"});
  return number == nullptr || std::string_view(number) == "0";
}

std::unique_ptr<parallel::World> StartedWorld(int64_t ranks, double timeout) {
  if (NumberSaid() == nullptr) {
    RequireNoneAlone();
    return nullptr;
  }
  parallel::MpiOptions options = parallel::ForProgram({.timeout = timeout});
  options.meeting = std::max(options.meeting, timeout);
  const int processes = parallel::MpiWorld::processes(options.meeting);
  if (processes == 1) {
    RequireNoneAlone();
    return nullptr;
  }
  Require(processes == ranks, "train",
          "--stages, --replicas and --tensor make {} ranks, one a process, but {} processes were "
          "started",
          ranks, processes);
  return std::make_unique<parallel::MpiWorld>(0, options);
}

}  // namespace torus::tools
