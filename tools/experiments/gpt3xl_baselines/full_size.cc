#include "tools/experiments/gpt3xl_baselines/full_size.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"
#include "parallel/schedule/tensor_parallel.h"

namespace torus::experiments {
namespace {

constexpr double kLayers = 24, kWidth = 2048, kTokens = 2048, kHeads = 16;
constexpr int kMachineRanks = 8;
constexpr double kF16Speed = 125 / 15.7, kMemory = 900e9, kNeighbour = 25e9, kAllLinks = 150e9;
constexpr double kWeights = kLayers * (12 * kWidth * kWidth + 13 * kWidth);

double ActivationBytes(const BaselineRow& row) {
  return row.micro_batch * kTokens * kWidth * row.element;
}

// A layer's computation of a micro-batch, forward.
double LayerSeconds(const BaselineRow& row, const FittedMachine& machine) {
  const double flops =
      row.micro_batch * (24 * kTokens * kWidth * kWidth + 4 * kTokens * kTokens * kWidth);
  const double rate = machine.rate * (row.element == 2 ? kF16Speed : 1);
  const double scores = row.micro_batch * kHeads * kTokens * kTokens * row.element;
  const double bytes = 8 * scores / row.tensor + (24.0 / row.tensor + 12) * ActivationBytes(row);
  return flops / row.tensor / rate + bytes / kMemory;
}

// A layer's all-reduces in one direction.
double TensorSeconds(const BaselineRow& row) {
  return parallel::ForwardSums({.blocks = 1}) *
         parallel::AllReduceSeconds(row.tensor, ActivationBytes(row), {.bandwidth = kAllLinks});
}

// The most ranks of one machine for which `leaves`(rank).
int MostOfAMachine(const BaselineRow& row, const std::function<bool(int rank)>& leaves) {
  std::vector<int> counts(static_cast<size_t>(row.machines), 0);
  for (int rank = 0; rank < row.tensor * row.pipeline * row.data; ++rank)
    if (leaves(rank)) ++counts.at(static_cast<size_t>(rank / kMachineRanks));
  return *std::ranges::max_element(counts);
}

double ReplicaSeconds(const BaselineRow& row, const FittedMachine& machine) {
  if (row.data == 1) return 0;
  const double bytes = kWeights / row.tensor / row.pipeline * row.element;
  const int edges = ReplicaEdges(row);
  const double rate = edges == 0 ? kNeighbour : std::min(kNeighbour, machine.network / edges);
  return parallel::AllReduceSeconds(row.data, bytes, {.bandwidth = rate});
}

double SquaredErrors(const std::vector<BaselineRow>& rows, const FittedMachine& machine) {
  double sum = 0;
  for (const BaselineRow& row : rows) {
    const double error = std::log(SecondsOf(row, machine) / row.published);
    sum += error * error;
  }
  return sum;
}

constexpr double kCoarse = 1.7782794100389228;  // a quarter of a decade

class Search {
 public:
  explicit Search(const std::vector<BaselineRow>& rows) : rows_(rows) {}

  // Returns whether it is better than all before.
  bool Try(const FittedMachine& tried) {
    const double errors = SquaredErrors(rows_, tried);
    if (errors >= least_) return false;
    best_ = tried;
    least_ = errors;
    return true;
  }

  // Tries the eight neighbours at that factor in each number; returns whether one is better.
  bool StepOnce(double factor) {
    const FittedMachine from = best_;
    bool better = false;
    for (const double rate : {1 / factor, 1.0, factor})
      for (const double network : {1 / factor, 1.0, factor})
        better = Try({from.rate * rate, from.network * network}) || better;
    return better;
  }

  const FittedMachine& best() const { return best_; }

 private:
  const std::vector<BaselineRow>& rows_;
  FittedMachine best_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

int ReplicaEdges(const BaselineRow& row) {
  return MostOfAMachine(row, [&](int rank) {
    const int replica = rank / row.tensor % row.data;
    const int next = rank + ((replica + 1) % row.data - replica) * row.tensor;
    return next / kMachineRanks != rank / kMachineRanks;
  });
}

int StageEdges(const BaselineRow& row) {
  const int ranks = row.tensor * row.pipeline * row.data, stride = row.tensor * row.data;
  return MostOfAMachine(row, [&](int rank) {
    return rank + stride < ranks && (rank + stride) / kMachineRanks != rank / kMachineRanks;
  });
}

double SecondsOf(const BaselineRow& row, const FittedMachine& machine) {
  const auto stages = static_cast<size_t>(row.pipeline);
  const double layers = kLayers / row.pipeline, forward = layers * LayerSeconds(row, machine),
               sums = layers * TensorSeconds(row);
  const double again = row.recompute ? 1 : 0;
  parallel::CostModel costs{
      .forward = std::vector<double>(stages, forward + sums),
      .backward = std::vector<double>(stages, (2 + again) * forward + (1 + again) * sums),
      .reduce = std::vector<double>(stages, ReplicaSeconds(row, machine)),
      .boundary_bytes = std::vector<double>(stages, ActivationBytes(row))};
  const int edges = StageEdges(row);
  costs.links = parallel::LinkTable(
      {.bandwidth = edges == 0 ? kNeighbour : std::min(kNeighbour, machine.network / edges)});
  const parallel::Schedule schedule = parallel::MakeSchedule(
      row.gpipe ? "gpipe" : "1f1b",
      {.ranks = row.pipeline, .micro_batches = row.batch / row.data / row.micro_batch});
  return parallel::Simulate(schedule, costs).makespan;
}

FittedMachine FitMachine(const std::vector<BaselineRow>& rows) {
  Search search(rows);
  // Searches the whole range first, since far from the solution a number may have no effect.
  for (double rate = 1e12; rate < 1.1e14; rate *= kCoarse)
    for (double network = 1e8; network < 1.1e11; network *= kCoarse) search.Try({rate, network});
  for (double step = std::log(kCoarse) / 2; step > 1e-3; step /= 2)
    while (search.StepOnce(std::exp(step))) {
    }
  return search.best();
}

}  // namespace torus::experiments
