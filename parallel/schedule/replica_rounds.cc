#include "parallel/schedule/replica_rounds.h"

#include "parallel/schedule/tensor_parallel.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The costs of a step that ends in a synchronization.
CostModel Synchronizing(const Pipeline& pipeline, const ReplicaRounds& rounds) {
  CostModel costs = pipeline.costs;
  std::vector<double>& list = rounds.of_weights ? costs.step : costs.reduce;
  list.resize(rounds.bytes.size(), 0);
  for (size_t rank = 0; rank < list.size(); ++rank)
    list[rank] += ExchangeSeconds(rounds, rounds.bytes[rank]);
  return costs;
}

// The mean of a round of `plain` steps but for the last.
ScheduleFigures MeanOf(const ScheduleFigures& plain, const ScheduleFigures& last, int64_t steps) {
  const auto count = static_cast<double>(steps);
  const double before = (count - 1) * plain.seconds, all = before + last.seconds;
  ScheduleFigures mean = last;
  mean.seconds = all / count;
  if (all > 0) mean.bubble = (before * plain.bubble + last.seconds * last.bubble) / all;
  return mean;
}

}  // namespace

double ExchangeSeconds(const ReplicaRounds& rounds, double bytes) {
  return rounds.neighbours == 0
             ? AllReduceSeconds(rounds.replicas, bytes, rounds.link)
             : rounds.link.latency + rounds.link.Occupied(rounds.neighbours * bytes);
}

double ExchangeBytes(const ReplicaRounds& rounds, double bytes) {
  return rounds.neighbours == 0 ? AllReduceBytes(rounds.replicas, bytes)
                                : rounds.neighbours * bytes;
}

std::vector<ScheduleFigures> CompareSchedules(const Pipeline& pipeline,
                                              const ReplicaRounds& rounds) {
  Require(rounds.replicas >= 2 && rounds.steps >= 1 && std::ssize(rounds.bytes) == pipeline.ranks,
          "simulator",
          "replicas need two of them, a step a round and the bytes of {} ranks, got {}, {} and {}",
          pipeline.ranks, rounds.replicas, rounds.steps, rounds.bytes.size());
  Pipeline last = pipeline;
  last.costs = Synchronizing(pipeline, rounds);
  const std::vector<ScheduleFigures> plain = CompareSchedules(pipeline);
  std::vector<ScheduleFigures> all = CompareSchedules(last);
  double sent = 0;
  for (const double bytes : rounds.bytes) sent += ExchangeBytes(rounds, bytes);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = MeanOf(plain[i], all[i], rounds.steps);
    all[i].sent_bytes += sent / static_cast<double>(rounds.steps);
  }
  return all;
}

}  // namespace torus::parallel
