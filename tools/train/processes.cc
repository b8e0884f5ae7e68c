#include "tools/train/processes.h"

#include <cstdlib>
#include <string_view>

#include "parallel/transport/mpi/mpi_world.h"
#include "runtime/error.h"

namespace torus::tools {
namespace {

// The process's number from the environment of OpenMPI's mpirun or PMIx; null without them.
const char* NumberSaid() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    if (const char* number = std::getenv(variable)) return number;
  return nullptr;
}

// Each process of such a start would train the whole run by itself.
void RequireNoneAlone() {
  for (const char* variable : {"SLURM_STEP_NUM_TASKS", "PMI_SIZE"}) {
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
  const char* const number = NumberSaid();
  return number == nullptr || std::string_view(number) == "0";
}

std::unique_ptr<parallel::World> StartedWorld(int64_t ranks, double timeout) {
  if (NumberSaid() == nullptr) {
    RequireNoneAlone();
    return nullptr;
  }
  const int processes = parallel::MpiWorld::processes();
  if (processes == 1) return nullptr;
  Require(processes == ranks, "train",
          "--stages, --replicas and --tensor make {} ranks, one a process, but {} processes were "
          "started",
          ranks, processes);
  return std::make_unique<parallel::MpiWorld>(0, parallel::MpiOptions{.timeout = timeout});
}

}  // namespace torus::tools
