// GpuWorld: the world that a run's ranks talk through where they compute on GPUs, by NCCL or
// without it, as all of them come to.
#pragma once

#include <memory>
#include <string>

#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

class GpuWorld {
 public:
  // `processes`: those of the run, null for threads of this one. All processes make it together.
  // On a CPU it adds nothing. `given`: an application's NCCL; null for NCCL itself, where this
  // build has it. BadInput where --gpu-links asks for what cannot be.
  GpuWorld(parallel::World* processes, const Settings& settings, double timeout,
           parallel::NcclLibrary* given);

  // For the trainer; null for threads of its own.
  parallel::World* world() const { return world_; }
  bool nccl() const { return nccl_ != nullptr; }
  // What was decided, for people; empty on a CPU.
  const std::string& line() const { return line_; }

 private:
  void Choose(const Settings& settings, double timeout, parallel::NcclLibrary* given);

  parallel::World* world_;  // may be one of those below
  std::string line_;
  std::unique_ptr<parallel::NcclLibrary> library_;
  std::unique_ptr<parallel::World> threads_;
  std::unique_ptr<parallel::NcclWorld> nccl_;
};

}  // namespace torus::recipes
