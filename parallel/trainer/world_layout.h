// Who is who among the ranks of a run: replicas x ranks of one pipeline.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// One rank's place.
struct RankPlace {
  int rank = 0;             // in the world
  int replica = 0;          // which copy of the model
  int pipeline_rank = 0;    // in its replica's pipeline
  std::vector<int> stages;  // that it runs, ascending
  bool first = false;       // runs stage 0: needs inputs
  bool last = false;        // runs the last stage: needs targets, knows the loss
};

// Replica r's pipeline takes the ranks r * P .. r * P + P - 1, P = schedule.num_ranks.
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

// Threads of `rank` out of `threads` shared by `ranks`: equal shares, the first ranks taking what
// is over, each at least one.
int ThreadShare(int threads, int ranks, int rank);

}  // namespace torus::parallel
