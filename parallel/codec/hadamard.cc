#include "parallel/codec/hadamard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "parallel/codec/hadamard_kernel.h"
#include "parallel/codec/value_range.h"
#include "runtime/parallel_for.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

constexpr int64_t kBlocksPerThread = 16;  // fewer are not worth waking a thread

using Signs = std::array<float, Hadamard::kMostBlock>;

Signs DrawSigns(const char* name) {
  const RandomStream stream({.layer = HashName(name)});
  Signs drawn;
  for (size_t i = 0; i < drawn.size(); ++i) drawn[i] = stream.Word(i) % 2 == 0 ? 1.0f : -1.0f;
  return drawn;
}

// The same for all blocks of all tensors.
const Signs& SignsBefore() {
  static const Signs signs = DrawSigns("hadamard signs");
  return signs;
}
const Signs& SignsBehind() {
  static const Signs signs = DrawSigns("hadamard signs behind");
  return signs;
}

int64_t BlockFor(int64_t count) {
  const auto holds = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count, 1)));
  return std::min(Hadamard::kMostBlock, static_cast<int64_t>(holds));
}

template <class Body>
void OverBlocks(int64_t count, int64_t block, const Body& body) {
  ParallelFor(count / block, kBlocksPerThread, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) body(b * block);
  });
}

}  // namespace

int64_t Hadamard::Values(const Shape& shape) const {
  const int64_t count = Numel(shape), block = BlockFor(count);
  return (count + block - 1) / block * block;
}

bool Hadamard::Forward(const CodecContext& /*context*/, std::span<const float> in,
                       std::span<float> kept, std::span<std::byte> /*side*/) const {
  if (!RangeOf(in).finite) return false;
  const int64_t count = static_cast<int64_t>(in.size()), block = BlockFor(count);
  const Signs &before = SignsBefore(), &behind = SignsBehind();
  const float factor = 1 / std::sqrt(static_cast<float>(block));
  OverBlocks(static_cast<int64_t>(kept.size()), block, [&](int64_t begin) {
    float* const values = kept.data() + begin;
    const int64_t here = std::min(block, count - begin);
    std::fill(std::copy_n(in.data() + begin, here, values), values + block, 0.0f);
    SignedHadamard(values, block, before.data(), factor, behind.data());
  });
  return RangeOf(kept).finite;
}

void Hadamard::Inverse(const CodecContext& /*context*/, std::span<const float> kept,
                       std::span<const std::byte> /*side*/, std::span<float> out) const {
  const int64_t count = static_cast<int64_t>(out.size()), block = BlockFor(count);
  const Signs &before = SignsBefore(), &behind = SignsBehind();
  const float factor = 1 / std::sqrt(static_cast<float>(block));
  OverBlocks(static_cast<int64_t>(kept.size()), block, [&](int64_t begin) {
    std::array<float, kMostBlock> values;
    std::copy_n(kept.data() + begin, block, values.data());
    SignedHadamard(values.data(), block, behind.data(), factor, before.data());
    std::copy_n(values.data(), std::min(block, count - begin), out.data() + begin);
  });
}

}  // namespace torus::parallel
