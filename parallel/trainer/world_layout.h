// WorldLayout: the replica and the stages of each rank of a run, which has (replicas) x (ranks of a
// pipeline) ranks.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct RankPlace {
  int rank = 0;             // in the run
  int replica = 0;          // the copy of the model that it works on
  int pipeline_rank = 0;    // in its replica's pipeline
  std::vector<int> stages;  // that it runs, ascending
  bool first = false;       // runs stage 0: needs inputs
  bool last = false;        // runs the last stage: needs targets, knows the loss
};

// The pipeline of replica r has the ranks r * P .. r * P + P - 1, P = schedule.num_ranks.
class WorldLayout {
 public:
  WorldLayout(const Schedule& schedule, int replicas);

  int size() const { return static_cast<int>(places_.size()); }
  int replicas() const { return replicas_; }
  const RankPlace& place(int rank) const { return places_[rank]; }
  const std::vector<RankPlace>& places() const { return places_; }
  std::vector<int> PipelineOf(int replica) const;        // ranks, in pipeline order
  std::vector<int> ReplicasOf(int pipeline_rank) const;  // ranks, in replica order

 private:
  int replicas_;
  int pipeline_ranks_;
  std::vector<RankPlace> places_;
};

// How many of a host's `threads` are for the one of number `rank` among its `ranks`: equal shares
// for all, one more for each of the first ranks where they do not divide evenly, and at least one.
int ThreadShare(int threads, int ranks, int rank);

}  // namespace torus::parallel
