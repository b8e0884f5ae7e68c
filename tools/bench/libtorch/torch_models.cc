#include "tools/bench/libtorch/torch_models.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr int64_t kVocabulary = 50257, kPositions = 1024, kWidth = 768, kLayers = 12, kHeads = 12;

nn::Conv2d Convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(register_module("conv1", Convolution(in, out, 3, stride))),
        conv2(register_module("conv2", Convolution(out, out, 3, 1))),
        bn1(register_module("bn1", nn::BatchNorm2d(out))),
        bn2(register_module("bn2", nn::BatchNorm2d(out))) {
    if (stride > 1 || in != out)
      downsample = register_module(
          "downsample", nn::Sequential(Convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = bn2(conv2(bn1(conv1(x)).relu_()));
    return y.add(downsample.is_empty() ? x : downsample->forward(x)).relu_();
  }

  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d bn1, bn2;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

struct Gpt2BlockImpl : nn::Module {
  Gpt2BlockImpl()
      : ln_1(register_module("ln_1", nn::LayerNorm(nn::LayerNormOptions({kWidth})))),
        ln_2(register_module("ln_2", nn::LayerNorm(nn::LayerNormOptions({kWidth})))),
        qkv(register_module("qkv", nn::Linear(kWidth, 3 * kWidth))),
        mix(register_module("mix", nn::Linear(kWidth, kWidth))),
        up(register_module("up", nn::Linear(kWidth, 4 * kWidth))),
        down(register_module("down", nn::Linear(4 * kWidth, kWidth))) {}

  // The keys and values are those of all positions; x has those from `first` on.
  Tensor forward(Tensor x, Tensor& keys, Tensor& values, int64_t first) {
    const int64_t count = x.size(1);
    const auto parts =
        qkv(ln_1(x)).view({1, count, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4});
    keys.narrow(2, first, count).copy_(parts[1]);
    values.narrow(2, first, count).copy_(parts[2]);
    // Only a prompt is longer than one token, and it comes first.
    const Tensor seen = at::scaled_dot_product_attention(parts[0], keys.narrow(2, 0, first + count),
                                                         values.narrow(2, 0, first + count), {}, 0,
                                                         /*is_causal=*/count > 1);
    x = x + mix(seen.transpose(1, 2).reshape({1, count, kWidth}));
    return x + down(at::gelu(up(ln_2(x)), "tanh"));
  }

  nn::LayerNorm ln_1, ln_2;
  nn::Linear qkv, mix, up, down;
};
TORCH_MODULE(Gpt2Block);

}  // namespace

ResNet18Impl::ResNet18Impl(int64_t classes) {
  body->push_back(Convolution(3, 64, 7, 2));
  body->push_back(nn::BatchNorm2d(64));
  body->push_back(nn::ReLU(nn::ReLUOptions(true)));
  body->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int64_t in = 64;
  for (const int64_t out : {64, 128, 256, 512}) {
    body->push_back(BasicBlock(in, out, out == 64 ? 1 : 2));
    body->push_back(BasicBlock(out, out, 1));
    in = out;
  }
  body->push_back(nn::AdaptiveAvgPool2d(1));
  body->push_back(nn::Flatten());
  register_module("body", body);
  fc = register_module("fc", nn::Linear(512, classes));
}

Tensor ResNet18Impl::forward(const Tensor& images) { return fc(body->forward(images)); }

void ChannelsLast(nn::Module& model) {
  for (Tensor& value : model.parameters())
    if (value.dim() == 4) value.set_data(value.contiguous(at::MemoryFormat::ChannelsLast));
}

Gpt2Impl::Gpt2Impl()
    : wte_(register_module("wte", nn::Embedding(kVocabulary, kWidth))),
      wpe_(register_module("wpe", nn::Embedding(kPositions, kWidth))),
      ln_f_(register_module("ln_f", nn::LayerNorm(nn::LayerNormOptions({kWidth})))) {
  for (int i = 0; i < kLayers; ++i) blocks_->push_back(Gpt2Block());
  register_module("h", blocks_);
  const torch::NoGradGuard no_grad;
  for (Tensor& value : parameters())
    if (value.dim() > 1) nn::init::normal_(value, 0, 0.02);
}

Tensor Gpt2Impl::forward(const Tensor& ids, Gpt2Cache& cache) {
  const int64_t first = cache.length, count = ids.size(1);
  if (first == 0) {
    const auto room = [] { return torch::empty({1, kHeads, kPositions, kWidth / kHeads}); };
    for (int i = 0; i < kLayers; ++i) {
      cache.keys.push_back(room());
      cache.values.push_back(room());
    }
  }
  Tensor x = wte_(ids) + wpe_->weight.narrow(0, first, count);
  for (size_t i = 0; i < blocks_->size(); ++i)
    x = blocks_->at<Gpt2BlockImpl>(i).forward(x, cache.keys[i], cache.values[i], first);
  cache.length += count;
  return at::linear(ln_f_(x.select(1, -1)), wte_->weight);
}
