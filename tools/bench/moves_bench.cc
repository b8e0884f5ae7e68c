// Casts, strided copies, masks, gradients of gathers, and products with a bias: what lies between
// the products of a step, on the calling thread's team (--threads). measure.h says what the
// counters are.
#include "autograd/backward.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/indexing.h"
#include "ops/matmul/linear.h"
#include "ops/tokens/tokens.h"
#include "runtime/kernels.h"
#include "tools/bench/measure.h"

namespace torus::bench {
namespace {

constexpr int64_t kElements = 1 << 24;

// Of a tensor of rank 1, as activations are packed and gradients are flattened.
void Cast(benchmark::State& state, DType from, DType to) {
  const Tensor in = Random({kElements}, 1, false).data().To(from);
  Tensor out({kElements}, to);
  Measure(state, [&] { Copy(in, out); });
  Report(state, 0, static_cast<double>(in.bytes() + out.bytes()));
}

// One image's planes to pixels, or a text's heads: the first dimension has size 1.
void Permute(benchmark::State& state, const Shape& shape, const Dims& order) {
  const Tensor in = Random(shape, 1, false).data().Permute(order);
  Tensor out(in.shape(), in.dtype());
  Measure(state, [&] { Copy(in, out); });
  Report(state, 0, 2.0 * static_cast<double>(out.bytes()));
}

void AddHalves(benchmark::State& state, DType dtype) {
  Tensor sum = Zeros({kElements}, dtype);
  const Tensor more = Random({kElements}, 1, false).data().To(dtype);
  Measure(state, [&] { AddInPlace(sum, more); });
  Report(state, 0, 3.0 * static_cast<double>(sum.bytes()));
}

void GatherBackward(benchmark::State& state, int64_t dim) {
  const Shape shape{1024, 4096};
  Tensor index(shape, DType::kI64);
  for (int64_t i = 0; i < index.numel(); ++i)
    index.mutable_data<int64_t>()[i] = i * 7919 % shape[static_cast<int>(dim)];
  const Variable x = Random(shape, 1, true);
  MeasureBackward(state, ops::Gather(x, dim, Variable(index)), {x});
  Report(state, 0, 24.0 * static_cast<double>(index.numel()));
}

void Mask(benchmark::State& state) {
  const Tensor tokens = Full({16, 1024}, 1, DType::kI64);
  Measure(state, [&] { benchmark::DoNotOptimize(ops::CausalMask(tokens).raw()); });
  Report(state, 0, 16.0 * 1024 * 1024);
}

void Lower(benchmark::State& state) {
  const Variable x = Random({4096, 4096}, 1, false);
  Measure(state, [&] { benchmark::DoNotOptimize(ops::Tril(x, 0).data().raw()); });
  Report(state, 0, 10.0 * 4096 * 4096);
}

// The bias is written before the product, which adds to it.
void Linear(benchmark::State& state, int64_t rows, int64_t in, int64_t out, bool biased) {
  const Variable x = Random({rows, in}, 1, false), w = Random({out, in}, 0.02, false);
  const Variable b = biased ? Random({out}, 1, false) : Variable();
  Measure(state, [&] { benchmark::DoNotOptimize(ops::Linear(x, w, b).data().raw()); });
  Report(state, 2.0 * static_cast<double>(rows * in * out),
         4.0 * static_cast<double>(rows * in + in * out + rows * out));
}

template <class... Args>
void Add(const std::string& name, Args&&... args) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<Args>(args)...)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool registered = [] {
  constexpr DType kF32 = DType::kF32, kBF16 = DType::kBF16, kF16 = DType::kF16;
  Add("cast/f32_bf16", Cast, kF32, kBF16), Add("cast/bf16_f32", Cast, kBF16, kF32);
  Add("cast/f32_f16", Cast, kF32, kF16), Add("cast/f16_f32", Cast, kF16, kF32);
  Add("add_in_place/f16", AddHalves, kF16), Add("add_in_place/bf16", AddHalves, kBF16);
  Add("permute/1x64x512x512_to_pixels", Permute, Shape{1, 64, 512, 512}, Dims{0, 2, 3, 1});
  Add("permute/1x1024x16x64_to_heads", Permute, Shape{1, 1024, 16, 64}, Dims{0, 2, 1, 3});
  Add("permute/8x1024x16x64_to_heads", Permute, Shape{8, 1024, 16, 64}, Dims{0, 2, 1, 3});
  Add("gather_backward/dim0", GatherBackward, 0), Add("gather_backward/dim1", GatherBackward, 1);
  Add("causal_mask", Mask), Add("tril", Lower);
  for (const bool biased : {false, true}) {
    const std::string end = biased ? "_bias" : "";
    Add("linear/1024x768_to_3072" + end, Linear, 1024, 768, 3072, biased);
    Add("linear/8192x768_to_768" + end, Linear, 8192, 768, 768, biased);
    Add("linear/64x512_to_4096" + end, Linear, 64, 512, 4096, biased);
  }
  return true;
}();

}  // namespace
}  // namespace torus::bench
