// The list of strategies, and the factory that makes them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/data_parallel.h"
#include "parallel/data_parallel/fully_sharded.h"
#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/data_parallel/shard_plan.h"

namespace torus::parallel {

// Name and short description of each strategy: "ddp", ..., those with arguments as "local-sgd:H".
std::vector<std::pair<std::string, std::string>> StrategyDescriptions();
std::vector<std::string> StrategyNames();

// `name` is one of these, with arguments in the place of capital letters: "local-sgd:8"
// (exchange_text.h). The functions but CheckStrategy do not look at the arguments.

// Throws BadInput with the list of names if `name` is unknown, with what is possible if its
// arguments are not, and if `all_reduce` is not "direct" for a strategy that always sums in the
// order of "direct" itself.
void CheckStrategy(std::string_view name, AllReduceAlgorithm all_reduce);

// Whether all replicas have the same weights after each step. Such strategies give the bits of ddp.
bool KeepsReplicasEqual(std::string_view name);
// Whether replicas take steps of their own and exchange weights (weight_exchange.h).
bool ExchangesWeights(std::string_view name);
// Whether the strategy sums in buckets (DataParallelOptions), by any collectives and on GPUs too.
bool SumsInBuckets(std::string_view name);
// Whether what it sums may go through a codec.
bool TakesCodec(std::string_view name);
bool WorksOnGpus(std::string_view name);

// Whether the strategy gathers weights block by block, by actions of the schedule.
bool GathersWeights(std::string_view name);

// What the replicas of a run hold; empty for strategies whose replicas hold everything.
ShardPlan PlanOf(std::string_view name, const std::vector<ShardedParameter>& model, int replicas);

// Makes the strategy of one stage on one replica. With one replica all strategies do the same.
// `shards`: those of the rank, for strategies that gather weights. `options`: for strategies whose
// replicas hold everything.
std::unique_ptr<ReplicaStrategy> MakeStrategy(std::string_view name, Communicator& replicas,
                                              std::vector<NamedVariable> uses,
                                              const ShardPlan& plan, RankShards& shards,
                                              const DataParallelOptions& options);

}  // namespace torus::parallel
