// Learns y = sin x with a network of two layers, saves it and loads it again.
#include <torch/torch.h>

#include "tools/bench/libtorch/program.h"

int main(int argc, char** argv) {
  Program program(argc, argv, [] { torch::ones({1}); });
  torch::nn::Sequential model(torch::nn::Linear(1, 64), torch::nn::ReLU(),
                              torch::nn::Linear(64, 1));
  const torch::Tensor x = 6 * torch::rand({256, 1}) - 3, y = torch::sin(x);
  torch::optim::Adam optimizer(model->parameters(), 0.01);
  for (int step = 0; step < 1000; ++step) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::mse_loss(model->forward(x), y);
    loss.backward();
    optimizer.step();
    program.Step();
    if (step % 200 == 199) std::printf("step %d loss %.5f\n", step + 1, loss.item<double>());
  }
  torch::save(model, program.File("model.pt"));
  torch::load(model, program.File("model.pt"));
  const torch::NoGradGuard no_grad;
  std::printf("sin 1 = %.2f\n", model->forward(torch::ones({1, 1})).item<double>());
}
