// Learns y = sin x with a network of two layers, saves it and loads it again.
#include <torus/torus.h>

#include "tools/bench/libtorch/program.h"

using namespace torus;  // NOLINT

int main(int argc, char** argv) {
  Program program(argc, argv, [] { Ones({1}); });
  nn::Sequential model(nn::Linear({.in = 1, .out = 64}), nn::Relu(),
                       nn::Linear({.in = 64, .out = 1}));
  model.Initialize(/*seed=*/1);
  const Variable x(6 * Rand({256, 1}, /*seed=*/2) - 3), y = ops::Sin(x);
  parallel::Adam optimizer(model.Parameters(), parallel::AdamOptions{});
  for (int step = 0; step < 1000; ++step) {
    optimizer.ZeroGrad();
    const Variable loss = ops::MseLoss(model.Forward(x, {}), y);
    Backward({loss});
    optimizer.Step(0.01);
    program.Step();
    if (step % 200 == 199) std::printf("step %d loss %.5f\n", step + 1, loss.data().Item());
  }
  SaveModel(model, program.File("model.safetensors"));
  LoadModel(model, program.File("model.safetensors"));
  const NoGrad no_grad;
  std::printf("sin 1 = %.2f\n", model.Forward(Variable(Ones({1, 1})), {}).data().Item());
}
