// Learns y = sin x with a network of two layers, saves it and loads it again.
#include <torch/torch.h>

#include "tools/bench/libtorch/program.h"

using namespace torch;  // NOLINT

int main(int argc, char** argv) {
  Program program(argc, argv, [] { ones({1}); });
  nn::Sequential model(nn::Linear(1, 64), nn::ReLU(), nn::Linear(64, 1));
  const Tensor x = 6 * rand({256, 1}) - 3, y = sin(x);
  optim::Adam optimizer(model->parameters(), 0.01);
  for (int step = 0; step < 1000; ++step) {
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model->forward(x), y);
    loss.backward();
    optimizer.step();
    program.Step();
    if (step % 200 == 199) std::printf("step %d loss %.5f\n", step + 1, loss.item<double>());
  }
  save(model, program.File("model.pt"));
  load(model, program.File("model.pt"));
  const NoGradGuard no_grad;
  std::printf("sin 1 = %.2f\n", model->forward(ones({1, 1})).item<double>());
}
