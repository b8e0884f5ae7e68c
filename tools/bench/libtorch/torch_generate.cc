// Continues a prompt of 16 tokens by 64 with a GPT-2 of random weights, the likeliest one each.
#include <torch/torch.h>

#include "tools/bench/libtorch/program.h"
#include "tools/bench/libtorch/torch_models.h"

int main(int argc, char** argv) {
  Program program(argc, argv, [] { torch::ones({1}); });
  const c10::InferenceMode inference;
  Gpt2 model;
  Gpt2Cache cache;
  torch::Tensor ids = torch::randint(50257, {1, 16});
  for (int i = 0; i < 64; ++i) {
    ids = model->forward(ids, cache).argmax(1, /*keepdim=*/true);
    std::printf("%ld ", ids.item<int64_t>());
    program.Step();
  }
}
