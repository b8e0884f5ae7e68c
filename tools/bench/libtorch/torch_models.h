// ResNet-18 and GPT-2 for libtorch, which has no models. They are compiled apart into a library of
// their own, and are counted nowhere: neither are Torus's.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

// As torchvision's resnet18: images (N, 3, H, W) to logits (N, classes).
struct ResNet18Impl : torch::nn::Module {
  explicit ResNet18Impl(int64_t classes);
  torch::Tensor forward(const torch::Tensor& images);

  torch::nn::Sequential body;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(ResNet18);

// Lays out the weights of convolutions as (O, H, W, I), with which a CPU is faster; outputs follow.
void ChannelsLast(torch::nn::Module& model);

// Keys and values of the tokens so far, (1, heads, positions, width of a head) for each block.
struct Gpt2Cache {
  int64_t length = 0;
  std::vector<torch::Tensor> keys, values;
};

// The smallest GPT-2, 124M parameters, in evaluation. Maps the next tokens, ids (1, T), to the
// logits (1, vocabulary) of the token after them.
struct Gpt2Impl : torch::nn::Module {
  Gpt2Impl();
  torch::Tensor forward(const torch::Tensor& ids, Gpt2Cache& cache);

 private:
  torch::nn::Embedding wte_{nullptr}, wpe_{nullptr};
  torch::nn::ModuleList blocks_;
  torch::nn::LayerNorm ln_f_{nullptr};
};
TORCH_MODULE(Gpt2);
