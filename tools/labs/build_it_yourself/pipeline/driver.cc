// Runs a stage. Numbers of the task: micro-batches, width, how many mini-batches. Values: the
// stage's weights, and on the first stage the inputs of each micro-batch. A stage multiplies each
// of its inputs by one weight; the loss is half the sum of the squares of the last outputs. Result:
// the weights. Facts "most": the most micro-batches kept at once; "steps": how many steps it took.
#include <algorithm>
#include <stdexcept>

#include "lab_pipeline.h"
#include "lab_rank.h"

namespace lab {
namespace {

using Floats = std::vector<float>;

constexpr float kRate = 0.0078125F;  // 2^-7

void Require(bool ok, const char* what, int micro_batch) {
  if (!ok) throw std::logic_error(what + std::to_string(micro_batch));
}

class OneWeightEach : public Stage {
 public:
  OneWeightEach(Rank& rank, const Task& task)
      : rank_(rank),
        count_(static_cast<int>(task.numbers.at(0))),
        width_(static_cast<size_t>(task.numbers.at(1))),
        weights_(task.values.begin(), task.values.begin() + static_cast<ptrdiff_t>(width_)),
        inputs_(task.values.begin() + static_cast<ptrdiff_t>(width_), task.values.end()),
        gradients_(width_),
        kept_(static_cast<size_t>(count_), Floats(width_)),
        state_(static_cast<size_t>(count_), kNew) {
    outs_.resize(Index(count_) * width_);
  }

  int micro_batches() const override { return count_; }
  size_t width() const override { return width_; }

  void Forward(int m, std::span<const float> in, std::span<float> out) override {
    Require(m >= 0 && m < count_, "there is no micro-batch ", m);
    Require(state_[Index(m)] == kNew, "a second forward of micro-batch ", m);
    Require(out.size() == width_ && (first() || in.size() == width_),
            "spans of another length in the forward of micro-batch ", m);
    Floats& kept = kept_[Index(m)];
    if (first())
      std::copy_n(&inputs_[Index(m) * width_], width_, kept.begin());
    else
      std::ranges::copy(in, kept.begin());
    for (size_t i = 0; i < width_; ++i) out[i] = weights_[i] * kept[i];
    if (last()) std::ranges::copy(out, out_of_last(m));
    state_[Index(m)] = kKept;
    most_ = std::max(most_, std::ranges::count(state_, kKept));
    rank_.Compute("F" + std::to_string(m), 1);
  }

  void Backward(int m, std::span<const float> dy, std::span<float> dx) override {
    Require(m >= 0 && m < count_, "there is no micro-batch ", m);
    Require(state_[Index(m)] == kKept, "a backward without a forward before it, of micro-batch ",
            m);
    Require((last() || dy.size() == width_) && (first() || dx.size() == width_),
            "spans of another length in the backward of micro-batch ", m);
    for (size_t i = 0; i < width_; ++i) {
      const float gradient = last() ? *(out_of_last(m) + static_cast<ptrdiff_t>(i)) : dy[i];
      gradients_[i] += gradient * kept_[Index(m)][i];
      if (!first()) dx[i] = gradient * weights_[i];
    }
    state_[Index(m)] = kDone;
    rank_.Compute("B" + std::to_string(m), 2);
  }

  void Step(float factor) override {
    for (size_t i = 0; i < width_; ++i) weights_[i] -= kRate * factor * gradients_[i];
    std::ranges::fill(gradients_, 0.0F);
    ++steps_;
  }

  void NextMiniBatch() { std::ranges::fill(state_, kNew); }
  const Floats& weights() const { return weights_; }
  double most() const { return static_cast<double>(most_); }
  int steps() const { return steps_; }

 private:
  enum State { kNew, kKept, kDone };
  static size_t Index(int m) { return static_cast<size_t>(m); }
  bool first() const { return rank_.rank() == 0; }
  bool last() const { return rank_.rank() == rank_.size() - 1; }
  Floats::iterator out_of_last(int m) {
    return outs_.begin() + static_cast<ptrdiff_t>(Index(m) * width_);
  }

  Rank& rank_;
  const int count_;
  const size_t width_;
  Floats weights_, inputs_, gradients_, outs_;
  std::vector<Floats> kept_;
  std::vector<State> state_;
  ptrdiff_t most_ = 0;
  int steps_ = 0;
};

}  // namespace

std::vector<float> Perform(Rank& rank, const Task& task) {
  OneWeightEach stage(rank, task);
  Metered(rank, task.numbers.at(2), [&](int64_t) {
    stage.NextMiniBatch();
    RunStage(stage, rank);
  });
  rank.Fact("most", stage.most());
  rank.Fact("steps", stage.steps());
  return stage.weights();
}

}  // namespace lab
