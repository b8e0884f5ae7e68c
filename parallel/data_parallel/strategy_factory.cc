#include "parallel/data_parallel/strategy_factory.h"

#include <algorithm>
#include <optional>

#include "parallel/data_parallel/sharded.h"
#include "parallel/data_parallel/unsynchronized.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Entry {
  const char *name, *about;
  std::optional<ShardRule> rule;  // none: every replica holds all
  bool broadcast = false, gathers = false;
};

const Entry kEntries[] = {
    {"ddp",
     "gradients are all-reduced and every replica runs the optimizer (DistributedDataParallel)"},
    {"dataparallel",
     "replica 0 sums the gradients, runs the optimizer and broadcasts the weights (DataParallel)",
     ShardRule::kFirst, true},
    {"ps", "parameter server on replica 0: gradients are sent to it, weights come back",
     ShardRule::kFirst},
    {"ps-sharded", "parameter server on all replicas, each with some of the parameters",
     ShardRule::kParameters},
    {"zero1",
     "each replica holds the optimizer state of an equal share of the parameters and updates it "
     "(ZeRO-1)",
     ShardRule::kBlocks},
    {"fsdp", "weights are sharded too, and gathered block by block when needed (ZeRO-3)",
     ShardRule::kBlocks, false, true},
    {"none", "no exchange, for teaching: replicas drift apart, and the summary says how far"},
};

const Entry& EntryOf(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kEntries, [&](const Entry& entry) { return name == entry.name; });
  if (found == std::end(kEntries))
    Throw<BadInput>("strategy", "unknown \"{}\"; there are: {}", name,
                    fmt::join(StrategyNames(), ", "));
  return *found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StrategyDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Entry& entry : kEntries) all.emplace_back(entry.name, entry.about);
  return all;
}

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

void CheckStrategy(std::string_view name, AllReduceAlgorithm all_reduce) {
  Require(!EntryOf(name).rule || all_reduce == AllReduceAlgorithm::kDirect, "strategy",
          "{} sums in the order of direct itself and takes no collectives but direct", name);
}

bool GathersWeights(std::string_view name) { return EntryOf(name).gathers; }

ShardPlan PlanOf(std::string_view name, const std::vector<ShardedParameter>& model, int replicas) {
  const Entry& entry = EntryOf(name);
  return entry.rule ? MakeShardPlan(*entry.rule, model, replicas) : ShardPlan();
}

std::unique_ptr<ReplicaStrategy> MakeStrategy(std::string_view name, Communicator& replicas,
                                              std::vector<NamedVariable> uses,
                                              const ShardPlan& plan, RankShards& shards,
                                              const DataParallelOptions& options) {
  const Entry& entry = EntryOf(name);
  if (entry.gathers && replicas.size() > 1)
    return std::make_unique<FullySharded>(replicas, std::move(uses), plan, shards);
  if (entry.rule && replicas.size() > 1)
    return std::make_unique<Sharded>(replicas, std::move(uses), plan,
                                     ShardedOptions{.broadcast = entry.broadcast});
  if (name == "none" && replicas.size() > 1)
    return std::make_unique<Unsynchronized>(replicas, std::move(uses));
  return std::make_unique<DataParallel>(replicas, std::move(uses), options);
}

}  // namespace torus::parallel
