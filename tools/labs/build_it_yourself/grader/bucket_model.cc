#include "tools/labs/build_it_yourself/grader/bucket_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tools/labs/build_it_yourself/grader/terms.h"

namespace torus::tools::labs {
namespace {

using Cuts = std::vector<BucketCut>;

// When each bucket is full, by the rank's own work alone, from the beginning of a step on.
std::vector<double> FullTimes(const std::vector<int64_t>& milliseconds, const Cuts& cuts) {
  std::vector<double> full;
  double clock = 0;
  for (const BucketCut& cut : cuts) {
    for (size_t p = cut.end; p-- > cut.begin;) clock += static_cast<double>(milliseconds[p]) / 1000;
    full.push_back(clock);
  }
  return full;
}

// As a ring takes.
double SecondsOf(const BucketCut& cut, int ranks, Link link) {
  const double bytes = static_cast<double>(cut.bytes) / ranks;
  return 2 * (ranks - 1) * (link.latency + bytes / link.bytes_per_second);
}

// When the last sum of a step ends that the ranks begin then.
double LastSumEnds(const Cuts& cuts, const std::vector<std::vector<double>>& full,
                   const std::vector<double>& begins, Link link) {
  double end = 0;  // the sums of the step before have ended when its first rank begins
  for (size_t k = 0; k < cuts.size(); ++k) {
    for (size_t rank = 0; rank < begins.size(); ++rank)
      end = std::max(end, begins[rank] + full[rank][k]);
    end += SecondsOf(cuts[k], static_cast<int>(begins.size()), link);
  }
  return end;
}

}  // namespace

BucketModel::BucketModel(Dice& dice, int n, int step_count, size_t bucket_floats,
                         std::vector<size_t> sizes)
    : ranks(n),
      steps(step_count),
      bucket_bytes(bucket_floats * sizeof(float)),
      elements(std::move(sizes)),
      first(elements.size() + 1) {
  std::partial_sum(elements.begin(), elements.end(), first.begin() + 1);
  milliseconds.resize(static_cast<size_t>(ranks));
  for (auto& of_rank : milliseconds)
    for (size_t p = 0; p < elements.size(); ++p) of_rank.push_back(dice.Between(20, 60));
  for (size_t i = 0; i < static_cast<size_t>(steps) * total(); ++i)
    scales.push_back(dice.Between(1, 5));
}

bool BucketModel::Comes(int rank, int step, size_t parameter) const {
  return !left_out.contains({rank, step, parameter});
}

int BucketModel::Scale(int step, size_t parameter, size_t i) const {
  return scales[static_cast<size_t>(step) * total() + first[parameter] + i];
}

float BucketModel::Term(int rank, int step, size_t parameter, size_t i) const {
  if (!Comes(rank, step, parameter)) return 0;
  return static_cast<float>(ranks * Scale(step, parameter, i) * FourTo(rank));
}

float BucketModel::Mean(int step, size_t parameter, size_t i) const {
  int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank)
    if (Comes(rank, step, parameter)) sum += FourTo(rank);
  return static_cast<float>(Scale(step, parameter, i) * sum);
}

std::vector<RankTask> BucketModel::Tasks() const {
  std::vector<RankTask> tasks;
  for (int rank = 0; rank < ranks; ++rank) {
    RankTask& task = tasks.emplace_back();
    std::vector<int64_t>& numbers = task.numbers;
    numbers = {steps, static_cast<int64_t>(bucket_bytes), static_cast<int64_t>(elements.size())};
    numbers.insert(numbers.end(), elements.begin(), elements.end());
    const auto& of_rank = milliseconds[static_cast<size_t>(rank)];
    numbers.insert(numbers.end(), of_rank.begin(), of_rank.end());
    for (int step = 0; step < steps; ++step)
      for (size_t p = 0; p < elements.size(); ++p) {
        numbers.push_back(Comes(rank, step, p) ? 1 : 0);
        for (size_t i = 0; i < elements[p]; ++i) task.values.push_back(Term(rank, step, p, i));
      }
  }
  return tasks;
}

std::vector<BucketCut> BucketModel::Buckets() const {
  std::vector<BucketCut> cuts;
  for (size_t p = elements.size(); p-- > 0;) {
    const uint64_t bytes = elements[p] * sizeof(float);
    if (cuts.empty() || cuts.back().bytes + bytes > bucket_bytes) cuts.push_back({p, p + 1, 0});
    cuts.back().begin = p;
    cuts.back().bytes += bytes;
  }
  return cuts;
}

BucketTimes TimesOf(const BucketModel& model, Link link) {
  const Cuts cuts = model.Buckets();
  BucketTimes times;
  for (const auto& milliseconds : model.milliseconds) {
    times.full.push_back(FullTimes(milliseconds, cuts));
    times.backward = std::max(times.backward, times.full.back().back());
  }
  for (const BucketCut& cut : cuts) times.sums += SecondsOf(cut, model.ranks, link);
  std::vector<double> begins(times.full.size());  // of the step, by rank
  for (int step = 0; step < model.steps; ++step) {
    const double end = LastSumEnds(cuts, times.full, begins, link);
    std::ranges::fill(begins, end);  // a rank's last sum ends behind its backward
  }
  times.all = begins.empty() ? 0 : begins[0];
  return times;
}

}  // namespace torus::tools::labs
