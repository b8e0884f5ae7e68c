// Runs the op's forward and backward. Numbers of the task: width, rows, whether the inputs are
// changed between the two, whether a second op with other values runs in between, how often the
// backward runs, which gradients are wanted (bits: x, gamma, beta), how often to repeat everything.
// Values: x, gamma, beta, the gradient of y, the initial values of the gradients. Result: y and the
// gradients. Fact "held": the bytes that a backward keeps.
#include <algorithm>
#include <limits>

#include "lab_autograd.h"
#include "lab_rank.h"

namespace lab {
namespace {

using Floats = std::vector<float>;

struct Case {
  explicit Case(const Task& task)
      : numbers(task.numbers), width(Number(0)), size(Number(0) * Number(1)) {
    auto at = task.values.begin();
    for (const auto& [floats, count] : {std::pair{&x, size},
                                        {&gamma, width},
                                        {&beta, width},
                                        {&dy, size},
                                        {&dx, size},
                                        {&dgamma, width},
                                        {&dbeta, width}}) {
      floats->assign(at, at + static_cast<ptrdiff_t>(count));
      at += static_cast<ptrdiff_t>(count);
    }
    y.resize(size);
  }
  size_t Number(size_t i) const { return static_cast<size_t>(numbers.at(i)); }
  Gradients Wanted() {
    const size_t bits = Number(5);
    return {bits & 1 ? std::span<float>(dx) : std::span<float>(),
            bits & 2 ? std::span<float>(dgamma) : std::span<float>(),
            bits & 4 ? std::span<float>(dbeta) : std::span<float>()};
  }

  const std::vector<int64_t>& numbers;
  const size_t width, size;
  Floats x, gamma, beta, dy, dx, dgamma, dbeta, y;
};

void Spoil(Floats& values) { std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN()); }

Floats Run(Rank& rank, Case& now, Case& other) {
  const int64_t before = LiveBytes();
  const Backward backward = LayerNorm(now.width, now.x, now.gamma, now.beta, now.y);
  rank.Fact("held", static_cast<double>(LiveBytes() - before));
  Floats result = now.y;
  Backward second;
  if (now.Number(3)) {
    std::ranges::reverse(other.x);
    second = LayerNorm(other.width, other.x, other.gamma, other.beta, other.y);
  }
  if (now.Number(2))
    for (Floats* values : {&now.x, &now.gamma, &now.beta, &now.y}) Spoil(*values);
  for (size_t i = 0; i < now.Number(4); ++i) backward(now.dy, now.Wanted());
  if (second) second(other.dy, other.Wanted());
  for (const Floats* values : {&now.dx, &now.dgamma, &now.dbeta})
    result.insert(result.end(), values->begin(), values->end());
  return result;
}

}  // namespace

std::vector<float> Perform(Rank& rank, const Task& task) {
  Floats result;
  Metered(rank, task.numbers.at(6), [&](int64_t) {
    Case now(task), other(task);
    result = Run(rank, now, other);
  });
  return result;
}

}  // namespace lab
