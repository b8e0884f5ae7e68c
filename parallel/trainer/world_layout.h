// WorldLayout: the replica, stages and tensor-parallel place of each rank of a run, which has
// (replicas) x (ranks of a pipeline) x (tensor-parallel ranks) ranks.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"
#include "runtime/tensor_split.h"

namespace torus::parallel {

// What a rank is in its run.
struct RankPlace {
  int rank = 0;             // in the run
  int replica = 0;          // its copy of the model
  int pipeline_rank = 0;    // in its replica's pipeline
  std::vector<int> stages;  // that it runs, ascending
  bool first = false;       // runs stage 0: needs inputs
  bool last = false;        // runs the last stage: needs targets, knows the loss
  TensorPlace tensor = {};  // among the ranks that run the same stages of the same replica together
  // Whether it reports the loss: of the ranks that know the same loss, the first does.
  bool tells_loss() const { return last && tensor.rank == 0; }
};

// Rank (r P + p) T + t is tensor-parallel rank t of pipeline rank p of replica r, P =
// schedule.num_ranks: so ranks that communicate most are neighbours. Each t has its own pipelines
// and replicas.
class WorldLayout {
 public:
  WorldLayout(const Schedule& schedule, int replicas, int tensor = 1);

  int size() const { return static_cast<int>(places_.size()); }          // ranks of the run
  int replicas() const { return replicas_; }                             // copies of the model
  const RankPlace& place(int rank) const { return places_[rank]; }       // of rank `rank`
  const std::vector<RankPlace>& places() const { return places_; }       // of all ranks, by number
  std::vector<int> PipelineOf(int replica, int tensor = 0) const;        // ranks, in its order
  std::vector<int> ReplicasOf(int pipeline_rank, int tensor = 0) const;  // ranks, in their order
  std::vector<int> TensorRanksOf(int replica, int pipeline_rank) const;  // ranks, in their order

 private:
  int RankOf(int replica, int pipeline_rank, int tensor) const {
    return (replica * pipeline_ranks_ + pipeline_rank) * tensor_ + tensor;
  }

  int replicas_;
  int pipeline_ranks_;
  int tensor_;
  std::vector<RankPlace> places_;
};

// What each of a host's ranks gets of its `threads`: equal shares, of at least one. If they do not
// divide evenly, each thread that is left goes to the rank with the most work per thread, the first
// one of equals. `work` has a number for each rank, in any unit.
std::vector<int> ThreadShares(int threads, const std::vector<double>& work);

}  // namespace torus::parallel
