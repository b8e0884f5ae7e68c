// The tests of the lab "server". A worker's gradient is weights - target, so the expected weights
// follow from the same float32 sums in the required order.
#include <algorithm>
#include <cmath>

#include "tools/labs/build_it_yourself/grader/exercises.h"

namespace torus::tools::labs {
namespace {

constexpr float kRate = 0.25F;  // of the driver

struct Training {
  int ranks = 2, steps = 1, calls = 1;
  std::vector<RankTask> tasks;

  Training(Bench& bench, int n, int count, size_t width, int times = 1)
      : ranks(n), steps(count), calls(times) {
    for (int rank = 0; rank < n; ++rank)
      tasks.push_back({{count, times, bench.dice.Between(500, 2000)}, bench.dice.Normals(width)});
  }
  size_t width() const { return tasks[0].values.size(); }
  int workers() const { return ranks - 1; }
};

// The weights after all steps, if the sum of the gradients is divided by `divisor`.
std::vector<float> WeightsOf(const Training& t, int steps, float divisor) {
  std::vector<float> weights = t.tasks[0].values;
  for (int step = 0; step < steps; ++step)
    for (size_t i = 0; i < weights.size(); ++i) {
      float sum = 0;
      for (int rank = 1; rank < t.ranks; ++rank) sum += weights[i] - t.tasks[rank].values[i];
      weights[i] -= kRate * (sum / divisor);
    }
  return weights;
}

// The weights if each step uses the gradients of the step before it, and the first step none.
std::vector<float> LateWeights(const Training& t) {
  std::vector<float> weights = t.tasks[0].values, sum(weights.size());
  for (int step = 0; step < t.steps; ++step)
    for (size_t i = 0; i < weights.size(); ++i) {
      const float before = weights[i];
      weights[i] -= kRate * (sum[i] / static_cast<float>(t.workers()));
      sum[i] = 0;
      for (int rank = 1; rank < t.ranks; ++rank) sum[i] += before - t.tasks[rank].values[i];
    }
  return weights;
}

// Allows a few ulps of what is added, since (rate * sum) / workers and the like round differently.
// A step is a contraction, so errors of earlier steps do not grow.
bool AreNear(const Training& t, const std::vector<float>& got, const std::vector<float>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    double size = std::abs(want[i]);
    for (const RankTask& task : t.tasks)
      size = std::max(size, std::abs(static_cast<double>(task.values[i])));
    if (!(std::abs(got[i] - want[i]) <= 0x1p-22 * 4 * size)) return false;
  }
  return true;
}

std::string Diagnosis(const Training& t, const std::vector<float>& got) {
  const float workers = static_cast<float>(t.workers());
  if (AreNear(t, got, WeightsOf(t, t.steps, 1)))
    return "; they moved by the sum of the gradients, and their mean is wanted";
  if (AreNear(t, got, WeightsOf(t, t.steps - 1, workers))) return "; a step is missing";
  if (AreNear(t, got, LateWeights(t))) return "; gradients come a step late";
  return "";
}

std::vector<RankRecord> RunAndCheck(Bench& bench, const Training& t) {
  auto ranks = bench.Run(t.tasks, LengthsOf(t.tasks));
  if (t.width() == 0) return ranks;
  const std::vector<float>& got = ranks[0].result;
  const auto want = WeightsOf(t, t.steps * t.calls, static_cast<float>(t.workers()));
  Expect(AreNear(t, got, want),
         "{} workers, {} steps: the weights are {}, ... and should be {}, ...{}", t.workers(),
         t.steps, got.at(0), want[0], Diagnosis(t, got));
  return ranks;
}

void OneWorker(Bench& bench) { RunAndCheck(bench, {bench, 2, bench.dice.Between(2, 5), 20}); }

void OddWorkers(Bench& bench) {
  for (const int workers : {3, 5})
    RunAndCheck(bench, {bench, workers + 1, bench.dice.Between(2, 5), 20});
}

void EvenWorkers(Bench& bench) {
  for (const int workers : {2, 4})
    RunAndCheck(bench, {bench, workers + 1, bench.dice.Between(2, 5), 20});
}

void NoStep(Bench& bench) {
  RunAndCheck(bench, {bench, 3, 1, 0});
  RunAndCheck(bench, {bench, 3, 0, 5});
}

// Terms of very different size, so that the bits depend on the order of the sums.
void Order(Bench& bench) {
  Training t(bench, bench.dice.Between(4, 6), 1, 200);
  for (float& weight : t.tasks[0].values) weight = 0;
  for (int rank = 1; rank < t.ranks; ++rank)
    for (float& x : t.tasks[rank].values) x = std::ldexp(x, bench.dice.Between(0, 20));
  const std::vector<float> got = bench.Run(t.tasks, LengthsOf(t.tasks))[0].result;
  const auto want = WeightsOf(t, 1, static_cast<float>(t.workers()));
  for (size_t i = 0; i < want.size(); ++i)
    Expect(std::abs(got[i] - want[i]) <= 0x1p-22F * std::abs(want[i]),
           "weight {} is {} and should be {}; are gradients added in the order of the ranks?", i,
           got[i], want[i]);
}

void Time(Bench& bench) {
  const Training t(bench, bench.dice.Between(4, 6), bench.dice.Between(3, 5), 10);
  const auto ranks = RunAndCheck(bench, t);
  double slowest = 0;
  for (int rank = 1; rank < t.ranks; ++rank)
    slowest = std::max(slowest, static_cast<double>(t.tasks[rank].numbers[2]) / 1000);
  Expect(ranks[0].clock <= t.steps * slowest + 1e-9,
         "{} steps took {} s; the slowest worker needs {} s a step, and all compute at the same "
         "time: {} s are allowed",
         t.steps, ranks[0].clock, slowest, t.steps * slowest);
}

void Bytes(Bench& bench) {
  const Training t(bench, bench.dice.Between(3, 5), bench.dice.Between(3, 5), 500);
  const auto ranks = RunAndCheck(bench, t);
  const uint64_t once = 4 * t.width() * static_cast<uint64_t>(t.steps);
  for (int rank = 0; rank < t.ranks; ++rank)
    for (const auto& [to, bytes] : ranks[rank].sent_to)
      Expect((rank == 0 || to == 0) && bytes <= once,
             "rank {} sent {} bytes to rank {}; between the server and each worker {} are allowed "
             "each way, and none between workers",
             rank, bytes, to, once);
}

void Memory(Bench& bench) {
  const Training t(bench, 6, 2, 20000);
  const auto ranks = RunAndCheck(bench, t);
  const double most = 2 * 4.0 * static_cast<double>(t.width()) + 4096;
  for (int rank = 0; rank < t.ranks; ++rank)
    Expect(ranks[rank].facts.at("peak") <= most,
           "rank {} needed {} bytes; allowed are twice the weights' and 4096: {}", rank,
           ranks[rank].facts.at("peak"), most);
}

void Leak(Bench& bench) {
  const Training t(bench, 3, 2, 1000, 5);
  const auto ranks = RunAndCheck(bench, t);
  for (int rank = 0; rank < t.ranks; ++rank)
    Expect(ranks[rank].facts.at("kept") <= 0,
           "leak: from the first call to the last of 5 rank {} kept {} bytes more", rank,
           ranks[rank].facts.at("kept"));
}

}  // namespace

Exercise ServerExercise() {
  return {"server",
          "server",
          "a parameter server",
          {{"one-worker", "the weights after some steps", 15, OneWorker},
           {"even-workers", "with two and four workers", 15, EvenWorkers},
           {"odd-workers", "with three and five", 15, OddWorkers},
           {"nothing", "no weights, and no steps", 5, NoStep},
           {"order", "gradients are added in the order of the ranks", 10, Order},
           {"time", "the workers compute at the same time", 15, Time},
           {"bytes", "weights once to each worker, a gradient once back", 15, Bytes},
           {"memory", "room for twice the weights at most", 5, Memory},
           {"leak", "nothing is kept from call to call", 5, Leak}}};
}

}  // namespace torus::tools::labs
