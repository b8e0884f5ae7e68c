// Learns y = sin x with a network of two layers, saves it and loads it again.
//   mlp_regression MODEL.safetensors
#include <torus/torus.h>

#include <cmath>
#include <cstdio>

using namespace torus;  // NOLINT

int main(int argc, char** argv) try {
  if (argc != 2) throw BadInput("usage: mlp_regression MODEL.safetensors");
  nn::Sequential model(nn::Linear({.in = 1, .out = 64, .weight_init = nn::Normal(0, 1)}),
                       nn::Relu(),
                       nn::Linear({.in = 64, .out = 1, .weight_init = nn::Normal(0, 0.1)}));
  model.Initialize(/*seed=*/1);

  Tensor x = Empty({256, 1}), y = Empty({256, 1});
  FillUniform(x, -3, 3, RandomStream({.seed = 2}));
  for (int i = 0; i < 256; ++i) y.mutable_data<float>()[i] = std::sin(x.data<float>()[i]);

  parallel::Adam optimizer(model.Parameters(), parallel::AdamOptions{});
  for (int step = 0; step < 1000; ++step) {
    optimizer.ZeroGrad();
    const Variable loss = ops::MseLoss(model.Forward(Variable(x), {}), Variable(y));
    Backward({loss});
    optimizer.Step(0.01);
    if (step % 200 == 199) std::printf("step %d loss %.5f\n", step + 1, loss.data().Item());
  }

  SaveModel(model, argv[1]);
  LoadModel(model, argv[1]);
  const NoGrad no_grad;
  const Variable one = model.Forward(Variable(Full({1, 1}, 1)), {.training = false});
  std::printf("sin 1 = %.2f\n", one.data().Item());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
