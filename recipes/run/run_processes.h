// RunProcesses: the processes that make a run together, of which one has rank 0 and leads: it
// prints, reads the clock for all and writes the run's folder. Over threads there is that one
// alone.
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
  // Null: threads of this process. `world` must outlive it.
  explicit RunProcesses(parallel::World* world) : world_(world) {}

  bool alone() const { return world_ == nullptr; }
  bool leads() const { return world_ == nullptr || world_->local().front() == 0; }
  // Of the ranks of this process.
  std::vector<parallel::RankPlace> LocalPlaces(const parallel::WorldLayout& layout) const;

  // What only the leading process does, and an error of which ends all.
  void Lead(const std::function<void()>& work) const;

  // All processes call the following together. `what` stands in the errors.

  // What `make` gives in the leading process, which alone calls it.
  std::string OfLeader(const std::function<std::string()>& make, const std::string& what) const;
  // The texts of all processes, in rank order, in the leading one; elsewhere none.
  std::vector<std::string> Gather(const std::string& text, const std::string& what) const;

  // Tells the other processes of an error that no rank's work has thrown, so that they end too; the
  // caller throws it on.
  void Fail(const std::exception_ptr& failure) const;

 private:
  parallel::World* const world_;
};

}  // namespace torus::recipes
