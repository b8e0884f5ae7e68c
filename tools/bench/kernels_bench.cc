// The CPU kernels of MobileNetV2 training, layer by layer, and the 3 x 3 convolutions of VGG and
// ResNet, on the calling thread's team (--threads). measure.h says what the counters are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/backward.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv_chain/conv_chain.h"
#include "ops/convolution/convolution.h"
#include "tools/bench/measure.h"

namespace torus::bench {
namespace {

using ops::Activation;

// One convolution: `hw` pixels a side in, channels in and out, stride.
struct Layer {
  int64_t batch, hw, in, out, kernel, stride, groups;
  std::string Name() const {
    return fmt::format("{}x{}x{}x{}_to_{}_k{}_s{}", batch, hw, hw, in, out, kernel, stride);
  }
  ops::Conv2dOptions Options() const {
    return {.stride = {stride, stride}, .padding = {kernel / 2, kernel / 2}, .groups = groups};
  }
  Shape Weight() const { return {out, kernel, kernel, in / groups}; }
  double PixelsOut() const {
    const auto side = static_cast<double>((hw + stride - 1) / stride);
    return static_cast<double>(batch) * side * side;
  }
  double Flop() const { return 2.0 * PixelsOut() * static_cast<double>(Numel(Weight())); }
  double BytesIn() const { return 4.0 * static_cast<double>(batch * hw * hw * in); }
  double BytesOut() const { return 4.0 * PixelsOut() * static_cast<double>(out); }
};

void ConvForward(benchmark::State& state, const Layer& layer) {
  const Variable x = Random({layer.batch, layer.hw, layer.hw, layer.in}, 1, false);
  const Variable weight = Random(layer.Weight(), 1, true);
  Measure(state, [&] {
    benchmark::DoNotOptimize(ops::Conv2d(x, weight, {}, layer.Options()).data().raw());
  });
  Report(state, layer.Flop(), layer.BytesIn() + layer.BytesOut());
}

// Both gradients.
void ConvBackward(benchmark::State& state, const Layer& layer) {
  const Variable x = Random({layer.batch, layer.hw, layer.hw, layer.in}, 1, true);
  const Variable weight = Random(layer.Weight(), 1, true);
  MeasureBackward(state, ops::Conv2d(x, weight, {}, layer.Options()), {x, weight});
  Report(state, 2 * layer.Flop(), 2 * layer.BytesIn() + layer.BytesOut());
}

// Batch norm and ReLU6 over the layer's output.
void NormForward(benchmark::State& state, const Layer& layer) {
  const Variable z = Random({static_cast<int64_t>(layer.PixelsOut()), layer.out}, 1, false);
  Measure(state, [&] {
    benchmark::DoNotOptimize(
        ops::BatchNormTrain(z, {}, {}, 1e-5, Activation::kRelu6).y.data().raw());
  });
  Report(state, 0, 3 * layer.BytesOut());
}

void NormBackward(benchmark::State& state, const Layer& layer) {
  const Variable z = Random({static_cast<int64_t>(layer.PixelsOut()), layer.out}, 1, true);
  MeasureBackward(state, ops::BatchNormTrain(z, {}, {}, 1e-5, Activation::kRelu6).y, {z});
  Report(state, 0, 5 * layer.BytesOut());
}

// An inverted residual block, forward and backward: fused, or composed of conv2d and batch_norm.
struct Block {
  int64_t batch, hw, in, out, stride;
};

std::vector<ops::ConvNorm> Layers(const Block& b) {
  const int64_t hidden = 6 * b.in;
  const auto he = [](int64_t fan) { return std::sqrt(2.0 / static_cast<double>(fan)); };
  const Shape channels{hidden};
  const auto norm = [](int64_t n) { return Variable(Full({n}, 1), true); };
  return {{Random({hidden, 1, 1, b.in}, he(hidden), true),
           {},
           norm(hidden),
           norm(hidden),
           1e-5,
           Activation::kRelu6},
          {Random({hidden, 3, 3, 1}, he(9), true),
           {.stride = {b.stride, b.stride}, .padding = {1, 1}, .groups = hidden},
           norm(hidden),
           norm(hidden),
           1e-5,
           Activation::kRelu6},
          {Random({b.out, 1, 1, hidden}, he(b.out), true),
           {},
           norm(b.out),
           norm(b.out),
           1e-5,
           Activation::kNone}};
}

Variable Composed(const Variable& x, const std::vector<ops::ConvNorm>& layers, bool residual) {
  Variable y = x;
  for (const ops::ConvNorm& layer : layers) {
    const bool last = &layer == &layers.back();
    y = ops::BatchNormTrain(ops::Conv2d(y, layer.weight, {}, layer.convolution), layer.norm_weight,
                            layer.norm_bias, layer.eps, layer.activation,
                            last && residual ? x : Variable())
            .y;
  }
  return y;
}

void TrainBlock(benchmark::State& state, const Block& b, bool fused) {
  Variable x = Random({b.batch, b.hw, b.hw, b.in}, 1, true);
  auto layers = Layers(b);
  const bool residual = b.stride == 1 && b.in == b.out;
  const int64_t side = (b.hw + b.stride - 1) / b.stride;
  Measure(state, [&] {
    x.ZeroGrad();
    for (ops::ConvNorm& layer : layers)
      for (Variable* v : {&layer.weight, &layer.norm_weight, &layer.norm_bias}) v->ZeroGrad();
    const Variable y =
        fused ? ops::ConvChainTrain(x, layers, residual).y : Composed(x, layers, residual);
    Backward({y}, {Full(y.shape(), 1, y.dtype())});
  });
  const auto in = static_cast<double>(b.batch * b.hw * b.hw),
             out = static_cast<double>(b.batch * side * side);
  const auto hidden = static_cast<double>(6 * b.in);
  const double macs =
      in * static_cast<double>(b.in) * hidden + out * hidden * (9 + static_cast<double>(b.out));
  Report(state, 6 * macs, 4 * 8 * hidden * (in + out));
}

// The three sizes that the project is measured at.
constexpr struct { int64_t hw, batch; } kSizes[] = {{224, 16}, {96, 32}, {32, 64}};

void Add(const char* what, void (*run)(benchmark::State&, const Layer&), const Layer& layer) {
  benchmark::RegisterBenchmark((std::string(what) + "/" + layer.Name()).c_str(), run, layer)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void AddLayer(const Layer& layer) {
  Add("conv_forward", ConvForward, layer), Add("conv_backward", ConvBackward, layer);
  Add("norm_forward", NormForward, layer), Add("norm_backward", NormBackward, layer);
}

// By Winograd's algorithm, and over images smaller than the kernel.
void AddDense(int64_t n, int64_t hw, int64_t in, int64_t out) {
  const Layer layer{n, hw, in, out, 3, 1, 1};
  Add("dense_forward", ConvForward, layer), Add("dense_backward", ConvBackward, layer);
}

void AddBlock(const Block& b) {
  for (bool fused : {true, false}) {
    const std::string name = fmt::format("block/{}x{}x{}x{}_to_{}_s{}/{}", b.batch, b.hw, b.hw,
                                         b.in, b.out, b.stride, fused ? "fused" : "composed");
    benchmark::RegisterBenchmark(name.c_str(), TrainBlock, b, fused)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

void AddSize(int64_t hw, int64_t n) {
  AddLayer({n, hw, 3, 32, 3, 2, 1});  // the stem
  const int64_t h = hw / 2;
  AddLayer({n, h, 32, 32, 3, 1, 32});
  AddLayer({n, h, 16, 96, 1, 1, 1}), AddLayer({n, h, 96, 96, 3, 2, 96}),
      AddLayer({n, h / 2, 96, 24, 1, 1, 1});
  AddLayer({n, h / 8, 384, 384, 3, 1, 384}), AddLayer({n, h / 8, 384, 64, 1, 1, 1});
  AddLayer({n, std::max<int64_t>(1, h / 16), 160, 960, 1, 1, 1});
  AddLayer({n, std::max<int64_t>(1, h / 16), 960, 960, 3, 1, 960});
  AddBlock({n, h, 16, 24, 2}), AddBlock({n, h / 2, 24, 24, 1}), AddBlock({n, h / 4, 32, 32, 1});
  AddBlock({n, h / 8, 64, 64, 1}), AddBlock({n, std::max<int64_t>(1, h / 16), 160, 160, 1});
}

[[maybe_unused]] const bool registered = [] {
  for (const auto& size : kSizes) AddSize(size.hw, size.batch);
  AddDense(64, 32, 64, 64), AddDense(64, 16, 128, 128), AddDense(64, 8, 256, 256);
  AddDense(64, 4, 512, 512), AddDense(64, 2, 512, 512), AddDense(128, 1, 512, 512);
  AddDense(4, 112, 128, 128), AddDense(4, 28, 512, 512);
  AddDense(128, 32, 16, 16);  // few channels: by oneDNN
  return true;
}();

}  // namespace
}  // namespace torus::bench
