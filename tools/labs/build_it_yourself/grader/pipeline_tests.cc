// The tests of the labs "gpipe" and "1f1b", which differ only in the order.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/labs/build_it_yourself/grader/exercises.h"

namespace torus::tools::labs {
namespace {

constexpr double kRate = 0x1p-7;  // of the driver

enum class Order { kGPipe, k1F1B };

struct Pipeline {
  int stages = 1, count = 1;  // micro-batches
  size_t width = 1;
  std::vector<RankTask> tasks;

  Pipeline(Bench& bench, int p, int m, size_t w, int mini_batches = 1)
      : stages(p), count(m), width(w) {
    for (int stage = 0; stage < p; ++stage) {
      tasks.push_back({{m, static_cast<int64_t>(w), mini_batches}, {}});
      for (size_t i = 0; i < w; ++i) tasks[stage].values.push_back(Weight(bench.dice));
    }
    for (int x = 0; x < m * static_cast<int>(w); ++x)
      tasks[0].values.push_back(bench.dice.Normal());
  }
  static float Weight(Dice& dice) { return 0.75F + 0.5F * static_cast<float>(dice.Uniform()); }
  double Input(int m, size_t i) const { return tasks[0].values[width * (m + 1) + i]; }
};

std::vector<RankRecord> Run(Bench& bench, const Pipeline& p) {
  return bench.Run(p.tasks, std::vector<size_t>(p.tasks.size(), p.width));
}

// Weights after the step of one mini-batch, computed from the products of all stages' weights.
std::vector<std::vector<double>> WeightsAfter(const Pipeline& p, double factor) {
  std::vector<std::vector<double>> weights(p.stages, std::vector<double>(p.width));
  for (size_t i = 0; i < p.width; ++i) {
    double product = 1, squares = 0;
    for (int stage = 0; stage < p.stages; ++stage) product *= p.tasks[stage].values[i];
    for (int m = 0; m < p.count; ++m) squares += p.Input(m, i) * p.Input(m, i);
    // loss = (product x)^2 / 2, so its gradient with respect to a weight is product^2 x^2 / weight.
    for (int stage = 0; stage < p.stages; ++stage) {
      const double weight = p.tasks[stage].values[i];
      weights[stage][i] = weight - kRate * factor * product * product * squares / weight;
    }
  }
  return weights;
}

// Products of 2 P float32 numbers, sums of M, and the step.
double Tolerance(const Pipeline& p, double weight, double change) {
  return 0x1p-23 * ((2 * p.stages + p.count + 8) * std::abs(change) + std::abs(weight));
}

bool AreNear(const Pipeline& p, const std::vector<RankRecord>& ranks, double factor) {
  const auto want = WeightsAfter(p, factor);
  for (int stage = 0; stage < p.stages; ++stage)
    for (size_t i = 0; i < p.width; ++i) {
      const double change = want[stage][i] - p.tasks[stage].values[i];
      if (!(std::abs(ranks[stage].result[i] - want[stage][i]) <=
            Tolerance(p, want[stage][i], change)))
        return false;
    }
  return true;
}

void ExpectWeights(const Pipeline& p, const std::vector<RankRecord>& ranks) {
  const double mean = 1.0 / p.count;
  for (int stage = 0; stage < p.stages; ++stage) {
    const double steps = ranks[stage].facts.at("steps");
    Expect(steps == 1, "stage {} took {} steps for one mini-batch; one is wanted", stage, steps);
  }
  if (AreNear(p, ranks, mean)) return;
  const auto want = WeightsAfter(p, mean);
  for (int stage = 0; stage < p.stages; ++stage)
    for (size_t i = 0; i < p.width; ++i) {
      const double got = ranks[stage].result[i], right = want[stage][i];
      Expect(
          std::abs(got - right) <= Tolerance(p, right, right - p.tasks[stage].values[i]),
          "{} stages, {} micro-batches: after the step weight {} of stage {} is {} and should be "
          "{}{}",
          p.stages, p.count, i, stage, got, right,
          AreNear(p, ranks, 1) ? "; it has moved by the sum of the gradients over the "
                                 "micro-batches, and their mean is wanted"
                               : "");
    }
}

std::vector<RankRecord> RunAndCheck(Bench& bench, const Pipeline& pipeline) {
  auto ranks = Run(bench, pipeline);
  ExpectWeights(pipeline, ranks);
  return ranks;
}

void TwoStages(Bench& bench) { RunAndCheck(bench, {bench, 2, 2 * bench.dice.Between(1, 3), 10}); }

void MoreStages(Bench& bench) {
  for (const int stages : {3, 4, 5})
    RunAndCheck(bench, {bench, stages, bench.dice.Between(6, 9), 10});
}

void FewMicroBatches(Bench& bench) {
  for (const int count : {1, 2}) RunAndCheck(bench, {bench, bench.dice.Between(4, 5), count, 7});
}

void OneStage(Bench& bench) { RunAndCheck(bench, {bench, 1, bench.dice.Between(2, 5), 7}); }

std::vector<std::string> OrderOf(Order order, int stages, int rank, int count) {
  const int ahead = order == Order::kGPipe ? count : std::min(count, stages - 1 - rank);
  std::vector<std::string> all;
  const auto add = [&](char kind, int m) { all.push_back(fmt::format("{}{}", kind, m)); };
  for (int m = 0; m < ahead; ++m) add('F', m);
  for (int m = ahead; m < count; ++m) {
    add('F', m);
    add('B', m - ahead);
  }
  for (int m = count - ahead; m < count; ++m) add('B', m);
  return all;
}

std::vector<std::string> OrderOf(const RankRecord& record) {
  std::vector<std::string> all;
  for (const Span& span : record.work) all.push_back(span.what);
  return all;
}

void ExpectOrder(Bench& bench, Order order) {
  for (const int stages : {2, 4}) {
    const Pipeline p(bench, stages, bench.dice.Between(5, 7), 5);
    const auto ranks = Run(bench, p);
    for (int rank = 0; rank < stages; ++rank) {
      const std::string got = fmt::format("{}", fmt::join(OrderOf(ranks[rank]), " "));
      const std::string want =
          fmt::format("{}", fmt::join(OrderOf(order, stages, rank, p.count), " "));
      Expect(got == want, "stage {} of {} did {}; wanted is {}", rank, stages, got, want);
    }
    ExpectWeights(p, ranks);
  }
}

void Time(Bench& bench) {
  const Pipeline p(bench, bench.dice.Between(3, 5), bench.dice.Between(6, 9), 5);
  const auto ranks = RunAndCheck(bench, p);
  double took = 0;
  for (const RankRecord& rank : ranks) took = std::max(took, rank.clock);
  const double want = 3.0 * (p.count + p.stages - 1);
  Expect(took <= want,
         "{} stages and {} micro-batches took {} s; (M + P - 1) 3 s = {} s are allowed. A stage "
         "works {} s; all the rest is bubble",
         p.stages, p.count, took, want, 3 * p.count);
}

void Bytes(Bench& bench) {
  const Pipeline p(bench, bench.dice.Between(3, 5), bench.dice.Between(3, 6), 100);
  const auto ranks = RunAndCheck(bench, p);
  const uint64_t most = 4 * p.width * static_cast<uint64_t>(p.count);
  for (int rank = 0; rank < p.stages; ++rank)
    for (const auto& [to, bytes] : ranks[rank].sent_to)
      Expect(std::abs(to - rank) == 1 && bytes <= most,
             "stage {} sent {} bytes to stage {}; allowed are {} to each of its neighbours: {} "
             "micro-batches of {}",
             rank, bytes, to, most, p.count, 4 * p.width);
}

// Checks what the stages keep, and what the student's code allocates.
void ExpectMemory(Bench& bench, Order order) {
  const Pipeline p(bench, 4, bench.dice.Between(8, 10), 5000);
  const auto ranks = RunAndCheck(bench, p);
  for (int rank = 0; rank < p.stages; ++rank) {
    const int keeps = order == Order::kGPipe ? p.count : std::min(p.count, p.stages - rank);
    Expect(ranks[rank].facts.at("most") <= keeps,
           "stage {} of {} kept the activations of {} micro-batches at once; {} are allowed", rank,
           p.stages, ranks[rank].facts.at("most"), keeps);
    const double most = 4 * 4.0 * static_cast<double>(p.width) + 4096;
    Expect(ranks[rank].facts.at("peak") <= most,
           "stage {} needed {} bytes of its own; allowed are four messages and 4096 bytes: {}",
           rank, ranks[rank].facts.at("peak"), most);
  }
}

void Leak(Bench& bench) {
  const Pipeline p(bench, 3, 4, 100, 5);
  for (int rank = 0; const RankRecord& record : Run(bench, p)) {
    const double kept = record.facts.at("kept"), steps = record.facts.at("steps");
    Expect(steps == 5, "stage {} took {} steps for five mini-batches", rank, steps);
    Expect(kept <= 0,
           "leak: from the first mini-batch to the last of 5 stage {} kept {} bytes more", rank,
           kept);
    ++rank;
  }
}

std::vector<TestCase> Tests(Order order) {
  return {{"two-stages", "the weights after a step of two stages", 10, TwoStages},
          {"more-stages", "of three, four and five", 15, MoreStages},
          {"few", "fewer micro-batches than stages", 10, FewMicroBatches},
          {"one-stage", "nobody to talk to", 5, OneStage},
          {"order", "of forwards and backwards", 15, [=](Bench& b) { ExpectOrder(b, order); }},
          {"time", "no more bubble than (P - 1) 3 s", 15, Time},
          {"bytes", "each activation and gradient crosses once", 10, Bytes},
          {"memory", "activations that are kept, and room of its own", 15,
           [=](Bench& b) { ExpectMemory(b, order); }},
          {"leak", "nothing is kept from mini-batch to mini-batch", 5, Leak}};
}

}  // namespace

Exercise GPipeExercise() {
  return {"gpipe", "pipeline", "a pipeline in GPipe's order", Tests(Order::kGPipe)};
}

Exercise OneForwardOneBackwardExercise() {
  return {"1f1b", "pipeline", "a pipeline in the order of 1F1B", Tests(Order::k1F1B)};
}

}  // namespace torus::tools::labs
