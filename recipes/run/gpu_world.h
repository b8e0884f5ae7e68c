// GpuWorld: the world through which a run's ranks communicate if they compute on GPUs. All ranks
// decide together whether it uses NCCL.
#pragma once

#include <memory>
#include <string>

#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

struct GpuWorldOptions {
  double timeout = 60;  // seconds without progress until a wait fails
  double grace = 30;    // RunRanksOptions::grace, where the ranks are threads of this process
  // An application's NCCL; null: NCCL itself, if this build has it.
  parallel::NcclLibrary* nccl = nullptr;
};

class GpuWorld {
 public:
  // All processes construct it together. `processes` is the world of the run's processes; null if
  // the ranks are threads of this process. On a CPU, world() is `processes`. Throws BadInput if
  // what --gpu-links asks for is not possible.
  GpuWorld(parallel::World* processes, const Settings& settings, const GpuWorldOptions& options);

  // The world for the trainer; null if the trainer is to make its own threads.
  parallel::World* world() const { return world_; }
  bool nccl() const { return nccl_ != nullptr; }
  // What was decided, as a line for the user; empty on a CPU.
  const std::string& line() const { return line_; }

 private:
  void Choose(const Settings& settings, const GpuWorldOptions& options);

  parallel::World* world_;  // may be one of those below
  std::string line_;
  std::unique_ptr<parallel::NcclLibrary> library_;
  std::unique_ptr<parallel::World> threads_;
  std::unique_ptr<parallel::NcclWorld> nccl_;
};

}  // namespace torus::recipes
