// Runs the server or a worker. Numbers of the task: steps, how often to repeat everything, the
// milliseconds of a gradient. Values: on rank 0 the weights; on a worker its target weights: its
// gradient is weights - target. Result on rank 0: the weights.
#include "lab_rank.h"
#include "lab_server.h"

namespace lab {
namespace {

constexpr float kRate = 0.25F;

class Pull : public Worker {
 public:
  Pull(Rank& rank, const Task& task)
      : rank_(rank),
        target_(task.values),
        seconds_(static_cast<double>(task.numbers.at(2)) / 1000) {}
  size_t width() const override { return target_.size(); }
  void Gradient(std::span<const float> weights, std::span<float> gradient) override {
    for (size_t i = 0; i < target_.size(); ++i) gradient[i] = weights[i] - target_[i];
    rank_.Compute("gradient", seconds_);
  }

 private:
  Rank& rank_;
  const std::vector<float>& target_;
  const double seconds_;
};

}  // namespace

std::vector<float> Perform(Rank& rank, const Task& task) {
  const int steps = static_cast<int>(task.numbers.at(0));
  Pull worker(rank, task);
  std::vector<float> weights = task.values;
  Metered(rank, task.numbers.at(1), [&](int64_t) {
    if (rank.rank() == 0)
      Serve(rank, weights, steps, kRate);
    else
      Work(rank, worker, steps);
  });
  return weights;
}

}  // namespace lab
