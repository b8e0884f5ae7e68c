#include "tools/experiments/common/chance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "recipes/data/task_data.h"
#include "runtime/error.h"

namespace torus::experiments {
namespace {

using Counts = std::vector<double>;

// How often each class or token is a target of the first `most` examples; -100 is none.
Counts TargetsOf(const recipes::DataPart& part, int64_t classes, int64_t most) {
  constexpr int64_t kRows = 64;
  Counts counts(static_cast<size_t>(classes), 0);
  const int64_t size = std::min(part.size, most);
  for (int64_t begin = 0; begin < size; begin += kRows) {
    data::MicroBatch rows;
    for (int64_t i = begin; i < std::min(begin + kRows, size); ++i) {
      rows.indices.push_back(i);
      rows.samples.push_back(i - begin);
    }
    for (const int64_t target : ToVector<int64_t>(part.batches(rows).target))
      if (target >= 0) ++counts.at(static_cast<size_t>(target));
  }
  return counts;
}

double Sum(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

double CrossEntropy(const Counts& test, const Counts& train) {
  const double all = Sum(train) + static_cast<double>(train.size());
  double nats = 0;
  for (size_t i = 0; i < test.size(); ++i) nats -= test[i] * std::log((train[i] + 1) / all);
  return nats / Sum(test);
}

}  // namespace

Chance ChanceOf(const recipes::Settings& settings) {
  // Enough windows for the frequencies of a text; for classes all examples count.
  constexpr int64_t kWindows = 4096, kAll = int64_t{1} << 40;
  const recipes::TaskData task = recipes::OpenTaskData(settings);
  const int64_t classes = task.form.classes;
  if (task.correct) {
    const Counts test = TargetsOf(task.test, classes, kAll);
    return {.majority = 100 * *std::ranges::max_element(test) / Sum(test)};
  }
  const Counts test = TargetsOf(task.test, classes, kWindows);
  return {.unigrams = CrossEntropy(test, TargetsOf(task.train, classes, kWindows))};
}

bool HasSignal(const Chance& chance, std::optional<double> accuracy, double loss) {
  if (chance.majority) return accuracy && *accuracy >= *chance.majority + kPointsAbove;
  TORUS_CHECK(chance.unigrams.has_value(), "a chance of neither kind");
  return loss <= *chance.unigrams - kNatsBelow;
}

}  // namespace torus::experiments
