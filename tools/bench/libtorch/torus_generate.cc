// Continues a prompt of 16 tokens by 64 with a GPT-2 of random weights, the likeliest one each.
#include <torus/torus.h>

#include "tools/bench/libtorch/program.h"

using namespace torus;  // NOLINT

int main(int argc, char** argv) {
  Program program(argc, argv, [] { Ones({1}); });
  const auto model = Gpt2();
  model->Initialize(/*seed=*/1);
  nn::TextDecoder decoder(model, /*positions=*/1024);
  Tensor ids = RandInt(0, 50257, {1, 16}, /*seed=*/2);
  for (int i = 0; i < 64; ++i) {
    ids = ops::Argmax(decoder.Extend(ids), 1, /*keepdim=*/true);
    std::printf("%.0f ", ids.Item());
    program.Step();
  }
}
