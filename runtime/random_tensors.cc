#include "runtime/random_tensors.h"

#include "runtime/parallel_for.h"

namespace torus {
namespace {

// Draws f64 in f64 and all else in f32.
template <class Fill>
Tensor Drawn(const char* op, const Shape& shape, DType dtype, Device device, const Fill& fill) {
  Require(IsFloating(dtype), op, "needs a floating-point dtype, got {}", Name(dtype));
  Tensor drawn(shape, dtype == DType::kF64 ? dtype : DType::kF32, device);
  fill(drawn);
  return drawn.To(dtype);
}

}  // namespace

RandomStream RandomSource::For(const char* purpose) const {
  RandomKey key = key_;
  if (key.layer == 0) key.layer = HashName(purpose);
  return RandomStream(key);
}

Tensor Rand(const Shape& shape, const RandomSource& source, DType dtype, Device device) {
  return Drawn("rand", shape, dtype, device,
               [&](Tensor& out) { FillUniform(out, 0, 1, source.For("rand")); });
}

Tensor Randn(const Shape& shape, const RandomSource& source, DType dtype, Device device) {
  return Drawn("randn", shape, dtype, device,
               [&](Tensor& out) { FillNormal(out, 0, 1, source.For("randn")); });
}

Tensor RandInt(int64_t low, int64_t high, const Shape& shape, const RandomSource& source,
               DType dtype, Device device) {
  Require(low < high, "randint", "needs low < high, got {} and {}", low, high);
  if (device == kMetaDevice) return Empty(shape, dtype, device);
  const RandomStream stream = source.For("randint");
  const uint64_t bound = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  Tensor drawn(shape, DType::kI64);
  int64_t* const p = drawn.mutable_data<int64_t>();
  ParallelFor(drawn.numel(), 1 << 12, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      p[i] = static_cast<int64_t>(static_cast<uint64_t>(low) +
                                  stream.Below(static_cast<uint64_t>(i), bound));
  });
  return drawn.To(dtype).To(device);
}

}  // namespace torus
