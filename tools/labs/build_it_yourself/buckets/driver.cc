// Runs the backwards of some steps. Numbers of the task: steps, bytes of a bucket, how many
// parameters; each parameter's length in floats; the milliseconds of each parameter's backward; for
// each step and parameter, whether its gradient comes. Values: the gradients of each step. Result:
// the gradients after each step. Fact "left": the bytes still allocated when the buckets are gone.
#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "lab_buckets.h"
#include "lab_rank.h"

namespace lab {
namespace {

void Require(bool ok, const char* what, size_t number) {
  if (!ok) throw std::logic_error(what + std::to_string(number));
}

// FNV-1a (Fowler, Noll and Vo) over words, to detect changed data.
uint64_t MixOf(std::span<const float> data) {
  uint64_t mix = 0xcbf29ce484222325;
  for (const float x : data) mix = (mix ^ std::bit_cast<uint32_t>(x)) * 0x100000001b3;
  return mix;
}

class WatchedSums : public Sums {
 public:
  WatchedSums(Rank& rank, size_t expected) : rank_(rank) { begun_.reserve(expected); }
  int rank() const override { return rank_.rank(); }
  int ranks() const override { return rank_.size(); }
  int Start(std::span<float> data) override {
    begun_.push_back({data, MixOf(data), false});
    return rank_.StartSum(data);
  }
  void Wait(int number) override {
    const size_t n = static_cast<size_t>(number);
    Require(n < begun_.size(), "waits for a sum that it has not begun: ", n);
    Begun& sum = begun_[n];
    Require(!sum.done, "waits a second time for sum ", n);
    Require(MixOf(sum.data) == sum.mix, "its data were changed between Start and Wait of sum ", n);
    rank_.WaitSum(number, sum.data);
    sum.done = true;
  }
  void RequireAllDone() const {
    for (size_t n = 0; n < begun_.size(); ++n)
      Require(begun_[n].done, "Finish has not waited for sum ", n);
  }

 private:
  struct Begun {
    std::span<float> data;
    uint64_t mix = 0;
    bool done = false;
  };
  Rank& rank_;
  std::vector<Begun> begun_;
};

class Model {
 public:
  Model(Rank& rank, const Task& task)
      : rank_(rank), task_(task), count_(static_cast<size_t>(task.numbers.at(2))) {
    size_t total = 0;
    for (size_t p = 0; p < count_; ++p) total += Elements(p);
    memory_.assign(total, std::numeric_limits<float>::quiet_NaN());
    for (size_t p = 0, at = 0; p < count_; at += Elements(p++))
      gradients_.push_back(std::span(memory_).subspan(at, Elements(p)));
  }
  size_t count() const { return count_; }
  const std::vector<float>& memory() const { return memory_; }
  std::span<const std::span<float>> gradients() const { return gradients_; }

  void Backward(size_t step, Buckets& buckets) {
    const float* come = task_.values.data() + step * memory_.size();
    for (size_t p = count_; p-- > 0;) {
      if (task_.numbers[3 + (2 + step) * count_ + p] == 0) continue;
      rank_.Compute("b" + std::to_string(p), Seconds(p));
      const std::span<float> gradient = gradients_[p];
      const float* begin = come + (gradient.data() - memory_.data());
      std::copy_n(begin, gradient.size(), gradient.data());
      buckets.GradientIsReady(p);
    }
  }

 private:
  size_t Elements(size_t p) const { return static_cast<size_t>(task_.numbers.at(3 + p)); }
  double Seconds(size_t p) const {
    return static_cast<double>(task_.numbers.at(3 + count_ + p)) / 1000;
  }

  Rank& rank_;
  const Task& task_;
  const size_t count_;
  std::vector<float> memory_;
  std::vector<std::span<float>> gradients_;
};

}  // namespace

std::vector<float> Perform(Rank& rank, const Task& task) {
  const size_t steps = static_cast<size_t>(task.numbers.at(0));
  Model model(rank, task);
  WatchedSums sums(rank, 2 * steps * model.count() + 2);
  std::vector<float> result;
  result.reserve(task.values.size());
  const int64_t before = LiveBytes();
  std::unique_ptr<Buckets> buckets;
  Metered(rank, task.numbers[0], [&](int64_t step) {
    if (step == 0)
      buckets = MakeBuckets(model.gradients(), static_cast<size_t>(task.numbers[1]), sums);
    if (buckets == nullptr) throw std::logic_error("MakeBuckets has returned nothing");
    model.Backward(static_cast<size_t>(step), *buckets);
    buckets->Finish();
    sums.RequireAllDone();
    result.insert(result.end(), model.memory().begin(), model.memory().end());
  });
  buckets.reset();
  rank.Fact("left", static_cast<double>(LiveBytes() - before));
  return result;
}

}  // namespace lab
