// What each replica has of its own, for a TrainState, if replicas exchange weights
// (data_parallel/weight_exchange.h). Internal to the trainer.
//
//   replica 2/weights/NAME     its weights, if the replicas are apart
//   replica 2/optimizer/NAME   the state of its optimizer, under the optimizer's names; that of
//                              replica 0 is the state's own
//   round/start/NAME           what is the same on all replicas (ReplicaStrategy::Round)
//   round/velocity/NAME
//   round/place                steps taken in the round
//   round/replicas             their number
//
// NAME is as in the whole model, also with tensor parallelism, so a run with other cuts or
// schedules takes it all. A run with another number of replicas takes only `round`: all its
// replicas begin with the mean of the weights.
#pragma once

#include <string>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/train_state.h"

namespace torus::parallel {

// Whose state it is.
struct ReplicaOfRank {
  Communicator& tensor;  // between the tensor-parallel ranks of the stage
  const RankModel& model;
  int replica = 0, replicas = 1;
};

// All tensor-parallel ranks of the replica call it together. Returns what belongs to one stage on
// the first of them, and nothing on others.
std::vector<NamedTensor> ReplicaTensors(const ReplicaOfRank& of, int stage, const StageState& state,
                                        const Owns& owns, const std::string& what);
// The inverse, for all stages of the rank, after all else of the state is set: takes from `state`
// what there is. Sends no messages.
void SetReplicaTensors(const ReplicaOfRank& of, const TensorSource& state,
                       const std::vector<StageState>& stages);

}  // namespace torus::parallel
