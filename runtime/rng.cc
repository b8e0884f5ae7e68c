#include "runtime/rng.h"

#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "runtime/normal.h"
#include "runtime/parallel_for.h"

namespace torus {
namespace {

constexpr int64_t kGrain = 1 << 10;  // blocks a thread is worth waking for

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

float Unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// Element i is values(block)[i % k], with k the values of a block: what a thread gets does not
// matter.
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

// Blocks first to last, through buffers that stay in the first cache; `out` is block 0's place.
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

void RequireContiguous(const char* op, const Tensor& out) {
  Require(out.defined() && out.is_contiguous(), op, "needs a contiguous tensor, got {}",
          out.Describe());
}

}  // namespace

uint64_t HashName(const char* name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return hash;
}

// Philox condenses the four numbers into its own key and the upper half of its counter. Each of the
// two calls is a bijection of its counter, so keys that differ in seed or step alone can never
// meet.
RandomStream::RandomStream(const RandomKey& key) {
  const PhiloxCounter place =
      Philox4x32({Low(key.seed), High(key.seed), Low(key.step), High(key.step)},
                 {Low(key.layer), High(key.layer)});
  const PhiloxCounter mixed = Philox4x32(place, {Low(key.sample), High(key.sample)});
  key_ = {mixed[0], mixed[1]};
  high_ = Join(mixed[2], mixed[3]);
}

PhiloxCounter RandomStream::Block(uint64_t index) const {
  return Philox4x32({Low(index), High(index), Low(high_), High(high_)}, key_);
}

void RandomStream::Blocks(uint64_t first, int64_t count, uint32_t* words) const {
  PhiloxBlocks(first, high_, key_, count, words);
}

uint32_t RandomStream::Word(uint64_t index) const { return Block(index / 4)[index % 4]; }

float RandomStream::Uniform(uint64_t index) const { return Unit(Word(index)); }

double RandomStream::Uniform64(uint64_t index) const {
  const PhiloxCounter words = Block(index / 2);
  const size_t first = index % 2 * 2;
  return UnitOf(words[first], words[first + 1]);
}

double RandomStream::Normal(uint64_t index) const {
  return NormalPair(Block(index / 2).data())[index % 2];
}

uint64_t RandomStream::Below(uint64_t index, uint64_t bound) const {
  Require(bound >= 1, "random", "a bound of at least 1 is needed, got 0");
  const PhiloxCounter words = Block(index / 2);
  const size_t first = index % 2 * 2;
  const unsigned __int128 wide = Join(words[first], words[first + 1]);
  return static_cast<uint64_t>(wide * bound >> 64);
}

void FillUniform(Tensor& out, double low, double high, const RandomStream& stream) {
  RequireContiguous("fill_uniform", out);
  VisitFloat("fill_uniform", out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T most = std::nextafter(static_cast<T>(high), static_cast<T>(low));
    // Rounding may reach `high`, which the interval leaves out.
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
  RequireContiguous("fill_normal", out);
  if (out.dtype() == DType::kF32) return FillNormalF32(out, mean, stddev, stream);
  VisitFloat("fill_normal", out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    FillByBlocks<T>(out, stream, [&](const PhiloxCounter& words) {
      const auto [a, b] = NormalPair(words.data());
      return std::array{static_cast<T>(mean + stddev * a), static_cast<T>(mean + stddev * b)};
    });
  });
}

}  // namespace torus
