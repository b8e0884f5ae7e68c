// Continues a prompt of 16 tokens by 64 with a GPT-2 of random weights, the likeliest one each.
#include <torch/torch.h>

#include "tools/bench/libtorch/program.h"
#include "tools/bench/libtorch/torch_models.h"

using namespace torch;  // NOLINT

int main(int argc, char** argv) {
  Program program(argc, argv, [] { ones({1}); });
  const InferenceMode inference;
  Gpt2 model;
  Gpt2Cache cache;
  Tensor ids = randint(50257, {1, 16});
  for (int i = 0; i < 64; ++i) {
    ids = model->forward(ids, cache).argmax(1, /*keepdim=*/true);
    std::printf("%ld ", ids.item<int64_t>());
    program.Step();
  }
}
