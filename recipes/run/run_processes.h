// RunProcesses: the processes of a run. The one with rank 0 leads: it prints, reads the clock for
// all and writes the run's folder. If the ranks are threads, there is only this process, and it
// leads.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "parallel/trainer/world_layout.h"
#include "parallel/transport/world.h"

namespace torus::recipes {

class RunProcesses {
 public:
  // Null: the ranks are threads of this process. `world` must outlive this object.
  explicit RunProcesses(parallel::World* world) : world_(world) {}

  bool alone() const { return world_ == nullptr; }
  bool leads() const { return world_ == nullptr || world_->local().front() == 0; }
  // The places of this process's ranks.
  std::vector<parallel::RankPlace> LocalPlaces(const parallel::WorldLayout& layout) const;

  // Returns work(), a declared long work of this process (runtime/long_work.h), such as opening
  // data. It must not wait for other processes.
  template <class Work>
  auto Alive(const Work& work) const {
    const auto alive = world_ == nullptr ? nullptr : world_->Alive();
    return work();
  }

  // Alive, for what must get whole even if another process dies meanwhile and mpirun tells this one
  // to end.
  void Finish(const std::function<void()>& work) const;

  // Calls `work`, a declared long work, in the leading process only. An error in it ends all
  // processes.
  void Lead(const std::function<void()>& work) const;

  // All processes call the following functions together. `what` is named in errors.

  // Calls `make`, a declared long work, in the leading process only, and returns its result in all
  // processes.
  std::string OfLeader(const std::function<std::string()>& make, const std::string& what) const;
  // Returns the texts of all processes, in rank order, in the leading process, and nothing in the
  // others.
  std::vector<std::string> Gather(const std::string& text, const std::string& what) const;

  // Reports an error that was thrown outside the ranks' work to the other processes, so that they
  // end too. The caller rethrows it.
  void Fail(const std::exception_ptr& failure) const;

 private:
  parallel::World* const world_;
};

}  // namespace torus::recipes
