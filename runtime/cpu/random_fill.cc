#include "runtime/cpu/random_fill.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/normal.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 10;  // fewest blocks that are worth waking a thread

float Unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// Element i is values(block)[i % k], where k is the number of values per block. So the split among
// threads does not matter.
template <class T, class Values>
void FillByBlocks(Tensor& out, const RandomStream& stream, const Values& values) {
  T* p = out.mutable_data<T>();
  const int64_t count = out.numel();
  const int64_t k = static_cast<int64_t>(values(PhiloxCounter{}).size());
  ParallelFor((count + k - 1) / k, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto v = values(stream.Block(static_cast<uint64_t>(block)));
      std::copy_n(v.begin(), std::min(k, count - block * k), p + block * k);
    }
  });
}

// Fills from blocks first to last, through buffers that fit in the L1 cache; `out` is where block 0
// begins.
void FillNormalBlocks(const RandomStream& stream, int64_t first, int64_t last, int64_t count,
                      double mean, double stddev, float* out) {
  constexpr int64_t kBlocks = 256;
  uint32_t words[4 * kBlocks];
  float values[2 * kBlocks];
  for (int64_t block = first; block < last; block += kBlocks) {
    const int64_t pairs = std::min(kBlocks, last - block);
    stream.Blocks(static_cast<uint64_t>(block), pairs, words);
    NormalPairs(words, pairs, mean, stddev, values);
    std::copy_n(values, std::min(2 * pairs, count - 2 * block), out + 2 * block);
  }
}

void FillNormalF32(Tensor& out, double mean, double stddev, const RandomStream& stream) {
  float* p = out.mutable_data<float>();
  const int64_t count = out.numel();
  ParallelFor((count + 1) / 2, kGrain, [&](int64_t begin, int64_t end) {
    FillNormalBlocks(stream, begin, end, count, mean, stddev, p);
  });
}

}  // namespace

void FillUniform(Tensor& out, double low, double high, const RandomStream& stream) {
  VisitCompute("fill_uniform", out.dtype(), [&]<class T>(ComputeType<T>) {
    const T most = std::nextafter(static_cast<T>(high), static_cast<T>(low));
    // Rounding may give `high`, which the interval excludes.
    const auto scale = [=](double unit) {
      return std::min(most, static_cast<T>(low + (high - low) * unit));
    };
    FillByBlocks<T>(out, stream, [&](const PhiloxCounter& w) {
      if constexpr (sizeof(T) == 4) {
        return std::array{scale(Unit(w[0])), scale(Unit(w[1])), scale(Unit(w[2])),
                          scale(Unit(w[3]))};
      } else {
        return std::array{scale(UnitOf(w[0], w[1])), scale(UnitOf(w[2], w[3]))};
      }
    });
  });
}

void FillNormal(Tensor& out, double mean, double stddev, const RandomStream& stream) {
  if (out.dtype() == DType::kF32) return FillNormalF32(out, mean, stddev, stream);
  VisitCompute("fill_normal", out.dtype(), [&]<class T>(ComputeType<T>) {
    FillByBlocks<T>(out, stream, [&](const PhiloxCounter& words) {
      const auto [a, b] = NormalPair(words.data());
      return std::array{static_cast<T>(mean + stddev * a), static_cast<T>(mean + stddev * b)};
    });
  });
}

}  // namespace torus::cpu
