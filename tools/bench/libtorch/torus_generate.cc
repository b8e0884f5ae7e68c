// Continues a prompt of 16 tokens by 64 with a GPT-2 of random weights, the likeliest one each.
#include <torus/torus.h>

#include "tools/bench/libtorch/program.h"

int main(int argc, char** argv) {
  Program program(argc, argv, [] { torus::Ones({1}); });
  const auto model = torus::Gpt2();
  model->Initialize(/*seed=*/1);
  torus::nn::TextDecoder decoder(model, /*positions=*/1024);
  torus::Tensor ids = torus::RandInt(0, 50257, {1, 16}, /*seed=*/2);
  for (int i = 0; i < 64; ++i) {
    ids = torus::ops::Argmax(decoder.Extend(ids), 1, /*keepdim=*/true);
    std::printf("%.0f ", ids.Item());
    program.Step();
  }
}
