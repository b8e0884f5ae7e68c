// Learns y = sin x on as many replicas as mpirun starts processes; each has a part of every batch.
//   mpirun -n 2 train_mpi
#include <torus/mpi.h>

#include <cmath>
#include <cstdio>

using namespace torus;            // NOLINT
using namespace torus::parallel;  // NOLINT

constexpr int64_t kPoints = 16;  // of each replica

std::vector<Block> Model() {
  Tensor first(Shape{32, 1}, DType::kF32), second(Shape{1, 32}, DType::kF32);
  FillUniform(first, -1, 1, RandomStream({.layer = 1}));
  FillUniform(second, -1, 1, RandomStream({.layer = 2}));
  const Variable w1(first, true), b1(Zeros(Shape{32}), true), w2(second, true);
  return {{.name = "net",
           .forward =
               [=](const std::vector<Variable>& x, const StepContext&) {
                 return std::vector{ops::Linear(ops::Tanh(ops::Linear(x[0], w1, b1)), w2)};
               },
           .parameters = {{"w1", w1}, {"b1", b1}, {"w2", w2}}}};
}

MiniBatch Batch(int64_t step, const RankPlace& place, int replicas) {
  Tensor x(Shape{kPoints, 1}, DType::kF32), y(Shape{kPoints, 1}, DType::kF32);
  FillUniform(x, -3, 3,
              RandomStream({.step = static_cast<uint64_t>(step),
                            .sample = static_cast<uint64_t>(place.replica)}));
  for (int i = 0; i < kPoints; ++i) y.mutable_data<float>()[i] = std::sin(x.data<float>()[i]);
  MiniBatch batch{.global_samples = kPoints * replicas};
  batch.micro_batches.push_back({{x}, {y}, std::vector<int64_t>(kPoints)});
  return batch;
}

int main() try {
  MpiWorld world;
  Trainer trainer(
      world, {.replicas = world.size()},
      {.model = Model,
       .loss = [](const auto& out,
                  const auto& target) { return ops::MseLoss(out[0], Variable(target[0])); },
       .optimizer = [](auto p) { return std::make_unique<Sgd>(p, SgdOptions{.momentum = 0.9}); },
       .learning_rate = [](int64_t) { return 0.02; },
       .largest_inputs = {{Shape{kPoints, 1}, DType::kF32}}});
  const auto batches = [&](int64_t step, const RankPlace& place) {
    return Batch(step, place, world.size());
  };
  // Hooks are called in the process of rank 0 alone.
  trainer.Train(2000, batches, {.on_step = [](const StepReport& report) {
                  if (report.step % 500 == 499)
                    std::printf("step %d loss %.5f\n", static_cast<int>(report.step + 1),
                                report.loss);
                }});
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
