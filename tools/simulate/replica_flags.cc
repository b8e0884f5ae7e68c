#include "tools/simulate/replica_flags.h"

#include <fmt/format.h>

#include "parallel/data_parallel/exchange_text.h"
#include "runtime/error.h"

namespace torus::tools {

parallel::ReplicaRounds RoundsOf(const ReplicaFlags& flags, int ranks) {
  parallel::ReplicaRounds rounds{.replicas = flags.replicas, .of_weights = flags.strategy != "ddp"};
  rounds.bytes.assign(ranks, flags.weights);
  if (!flags.link.empty()) rounds.link = parallel::ParseLink(flags.link);
  const std::string_view name = parallel::NameOfStrategy(flags.strategy);
  if (name == "local-sgd") {
    rounds.steps = parallel::ParseLocalSgd(flags.strategy).steps;
  } else if (name == "diloco") {
    rounds.steps = parallel::ParseDiloco(flags.strategy).steps;
  } else if (name == "gossip") {
    const bool ring = parallel::ParseGossip(flags.strategy) == parallel::GossipGraph::kRing;
    rounds.neighbours = ring && flags.replicas > 2 ? 2 : 1;
  } else {
    Require(flags.strategy == "ddp", "simulate",
            "--strategy must be ddp, local-sgd:H, diloco:H or gossip:GRAPH, got {}",
            flags.strategy);
  }
  return rounds;
}

std::string LineOf(const ReplicaFlags& flags, const parallel::ReplicaRounds& rounds) {
  const double bytes = rounds.bytes.front();
  return fmt::format(
      "{} replicas, {}: every {} a rank sends {:.6g} MiB in {:.6g} s; a step is the mean of a "
      "round\n",
      flags.replicas, flags.strategy,
      rounds.steps == 1 ? "step" : fmt::format("{} steps", rounds.steps),
      parallel::ExchangeBytes(rounds, bytes) / 0x1p20, parallel::ExchangeSeconds(rounds, bytes));
}

}  // namespace torus::tools
