// Learns y = sin x with a network of two layers. Each is a pipeline stage on its own thread.
#include <cmath>

#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/linear.h"
#include "ops/reduction/reduction.h"
#include "parallel/optim/sgd.h"
#include "parallel/trainer/trainer.h"
#include "runtime/rng.h"

using namespace torus;            // NOLINT
using namespace torus::parallel;  // NOLINT

Block Layer(const std::string& name, int64_t in, int64_t out, bool last) {
  Tensor values(Shape{out, in}, DType::kF32);
  FillUniform(values, -1, 1, RandomStream({.layer = HashName(name.c_str())}));
  const Variable weight(values, true), bias(Zeros(Shape{out}), true);
  return {.name = name,
          .forward =
              [=](const std::vector<Variable>& x, const StepContext&) {
                const Variable y = ops::Linear(x[0], weight, bias);
                return std::vector<Variable>{last ? y : ops::Tanh(y)};
              },
          .parameters = {{name + ".weight", weight}, {name + ".bias", bias}}};
}

// Four micro-batches of 16 points each. Every rank makes the data that it needs.
MiniBatch Batch(int64_t step, const RankPlace&) {
  MiniBatch batch{.global_samples = 64};
  for (uint64_t m = 0; m < 4; ++m) {
    Tensor x(Shape{16, 1}, DType::kF32), y(Shape{16, 1}, DType::kF32);
    FillUniform(x, -3, 3, RandomStream({.step = static_cast<uint64_t>(step), .sample = m}));
    for (int i = 0; i < 16; ++i) y.mutable_data<float>()[i] = std::sin(x.data<float>()[i]);
    batch.micro_batches.push_back({{x}, {y}, std::vector<int64_t>(16)});
  }
  return batch;
}

int main() {
  Trainer trainer(
      {.stages = 2, .micro_batches = 4},
      {.model =
           [] {
             return std::vector{Layer("a", 1, 32, false), Layer("b", 32, 1, true)};
           },
       .loss =
           [](const auto& out, const auto& target) {
             const Variable d = ops::Sub(out[0], Variable(target[0]));
             return ops::Mean(ops::Mul(d, d));
           },
       .optimizer = [](auto p) { return std::make_unique<Sgd>(p, SgdOptions{.momentum = 0.9}); },
       .learning_rate = [](int64_t) { return 0.02; },
       .largest_inputs = {{Shape{16, 1}, DType::kF32}}});
  trainer.Train(2000, Batch, {.on_step = [](const StepReport& report) {
                  if (report.step % 500 == 499)
                    fmt::print("step {} loss {:.5f}\n", report.step + 1, report.loss);
                }});
}
