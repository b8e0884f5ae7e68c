#include "parallel/data_parallel/strategy_factory.h"

#include <algorithm>
#include <optional>

#include "parallel/data_parallel/diloco.h"
#include "parallel/data_parallel/exchange_text.h"
#include "parallel/data_parallel/gossip.h"
#include "parallel/data_parallel/local_sgd.h"
#include "parallel/data_parallel/sharded.h"
#include "parallel/data_parallel/unsynchronized.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Made = std::unique_ptr<ReplicaStrategy>;

// A strategy whose replicas are not kept equal.
struct Apart {
  void (*check)(std::string_view text) = nullptr;  // throws BadInput for wrong arguments
  Made (*make)(std::string_view text, Communicator& replicas, std::vector<NamedVariable> uses,
               const DataParallelOptions& options) = nullptr;
};

struct Entry {
  const char *name, *about;
  std::optional<ShardRule> rule = {};  // none: every replica holds all
  bool broadcast = false, gathers = false;
  bool in_buckets = false, takes_codec = false;
  std::optional<Apart> apart = {};
};

Made MakeNone(std::string_view, Communicator& replicas, std::vector<NamedVariable> uses,
              const DataParallelOptions&) {
  return std::make_unique<Unsynchronized>(replicas, std::move(uses));
}

Made MakeLocalSgd(std::string_view text, Communicator& replicas, std::vector<NamedVariable> uses,
                  const DataParallelOptions& options) {
  return std::make_unique<LocalSgd>(replicas, std::move(uses), ParseLocalSgd(text).steps, options);
}

Made MakeDiloco(std::string_view text, Communicator& replicas, std::vector<NamedVariable> uses,
                const DataParallelOptions& options) {
  return std::make_unique<Diloco>(replicas, std::move(uses), ParseDiloco(text), options);
}

Made MakeGossip(std::string_view text, Communicator& replicas, std::vector<NamedVariable> uses,
                const DataParallelOptions& options) {
  return std::make_unique<Gossip>(replicas, std::move(uses), ParseGossip(text), options);
}

const Entry kEntries[] = {
    {.name = "ddp",
     .about =
         "gradients are all-reduced and every replica runs the optimizer (DistributedDataParallel)",
     .in_buckets = true,
     .takes_codec = true},
    {.name = "dataparallel",
     .about = "replica 0 sums the gradients, runs the optimizer and broadcasts the weights "
              "(DataParallel)",
     .rule = ShardRule::kFirst,
     .broadcast = true},
    {.name = "ps",
     .about = "parameter server on replica 0: gradients are sent to it, weights come back",
     .rule = ShardRule::kFirst},
    {.name = "ps-sharded",
     .about = "parameter server on all replicas, each with some of the parameters",
     .rule = ShardRule::kParameters},
    {.name = "zero1",
     .about = "each replica holds the optimizer state of an equal share of the parameters and "
              "updates it (ZeRO-1)",
     .rule = ShardRule::kBlocks},
    {.name = "fsdp",
     .about = "weights are sharded too, and gathered block by block when needed (ZeRO-3)",
     .rule = ShardRule::kBlocks,
     .gathers = true},
    {.name = "local-sgd:H",
     .about = "every replica runs its own optimizer; every H steps the weights are averaged",
     .in_buckets = true,
     .apart = Apart{[](std::string_view text) { ParseLocalSgd(text); }, MakeLocalSgd}},
    {.name = "diloco:H",
     .about = "the same, and an outer Nesterov step goes from the weights of H steps before "
              "towards their mean (DiLoCo); diloco:H:RATE:MOMENTUM, by default 0.7 and 0.9",
     .in_buckets = true,
     .takes_codec = true,
     .apart = Apart{[](std::string_view text) { ParseDiloco(text); }, MakeDiloco}},
    {.name = "gossip:GRAPH",
     .about = "every replica runs its own optimizer and averages its weights with its neighbours' "
              "in each step: ring, exponential or random",
     .in_buckets = true,
     .apart = Apart{[](std::string_view text) { ParseGossip(text); }, MakeGossip}},
    {.name = "none",
     .about = "no exchange, for teaching: replicas drift apart, and the summary says how far",
     .apart = Apart{nullptr, MakeNone}},
};

// With arguments, or without where the entry has them.
const Entry& EntryOf(std::string_view name) {
  const auto* found = std::ranges::find_if(kEntries, [&](const Entry& entry) {
    return NameOfStrategy(name) == NameOfStrategy(entry.name) &&
           (name == NameOfStrategy(name) || entry.name != NameOfStrategy(entry.name));
  });
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
  const Entry& entry = EntryOf(name);
  if (entry.apart && entry.apart->check != nullptr) entry.apart->check(name);
  Require(!entry.rule || all_reduce == AllReduceAlgorithm::kDirect, "strategy",
          "{} sums in the order of direct itself and takes no collectives but direct", name);
}

bool KeepsReplicasEqual(std::string_view name) { return !EntryOf(name).apart; }

bool ExchangesWeights(std::string_view name) {
  return SumsInBuckets(name) && !KeepsReplicasEqual(name);
}

bool SumsInBuckets(std::string_view name) { return EntryOf(name).in_buckets; }

bool TakesCodec(std::string_view name) { return EntryOf(name).takes_codec; }

// Gossip's messages and sharded sums go through CPU memory only.
bool WorksOnGpus(std::string_view name) {
  return !EntryOf(name).rule && NameOfStrategy(name) != "gossip";
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
  if (entry.apart && replicas.size() > 1)
    return entry.apart->make(name, replicas, std::move(uses), options);
  return std::make_unique<DataParallel>(replicas, std::move(uses), options);
}

}  // namespace torus::parallel
