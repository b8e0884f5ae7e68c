#include "runtime/rng.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus {
namespace {

constexpr int64_t kGrain = 1 << 10;  // blocks a thread is worth waking for

// Philox's constants (Salmon et al., table 2 and section 4.3).
constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kWeyl0 = 0x9E3779B9u;  // golden ratio
constexpr uint32_t kWeyl1 = 0xBB67AE85u;  // sqrt(3) - 1

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// 53 bits of two words.
double Unit(uint32_t low, uint32_t high) {
  return static_cast<double>(Join(low, high) >> 11) * 0x1p-53;
}

float Unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// Box-Muller: a block's four words give two independent normals.
std::array<double, 2> NormalPair(const PhiloxCounter& words) {
  // 1 - u lies in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - Unit(words[0], words[1])));
  const double angle = 2 * std::numbers::pi * Unit(words[2], words[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

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

void RequireContiguous(const char* op, const Tensor& out) {
  Require(out.defined() && out.is_contiguous(), op, "needs a contiguous tensor, got {}",
          out.Describe());
}

}  // namespace

PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{kMultiplier0} * counter[0];
    const uint64_t b = uint64_t{kMultiplier1} * counter[2];
    counter = {High(b) ^ counter[1] ^ key[0], Low(b), High(a) ^ counter[3] ^ key[1], Low(a)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

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

// Lane l is block first + l; the loops over lanes are what the compiler vectorises.
void RandomStream::Blocks(uint64_t first, int64_t count, uint32_t* words) const {
  constexpr int kLanes = 8;
  for (; count >= kLanes; count -= kLanes, first += kLanes, words += 4 * kLanes) {
    uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      c0[l] = Low(first + l);
      c1[l] = High(first + l);
      c2[l] = Low(high_);
      c3[l] = High(high_);
    }
    PhiloxKey key = key_;
    for (int round = 0; round < 10; ++round) {
      for (int l = 0; l < kLanes; ++l) {
        const uint64_t a = uint64_t{kMultiplier0} * c0[l], b = uint64_t{kMultiplier1} * c2[l];
        c0[l] = High(b) ^ c1[l] ^ key[0];
        c1[l] = Low(b);
        c2[l] = High(a) ^ c3[l] ^ key[1];
        c3[l] = Low(a);
      }
      key[0] += kWeyl0;
      key[1] += kWeyl1;
    }
    for (int l = 0; l < kLanes; ++l) {
      words[4 * l] = c0[l];
      words[4 * l + 1] = c1[l];
      words[4 * l + 2] = c2[l];
      words[4 * l + 3] = c3[l];
    }
  }
  for (; count > 0; --count, ++first, words += 4) {
    const PhiloxCounter block = Block(first);
    std::copy(block.begin(), block.end(), words);
  }
}

uint32_t RandomStream::Word(uint64_t index) const { return Block(index / 4)[index % 4]; }

float RandomStream::Uniform(uint64_t index) const { return Unit(Word(index)); }

double RandomStream::Uniform64(uint64_t index) const {
  const PhiloxCounter words = Block(index / 2);
  const size_t first = index % 2 * 2;
  return Unit(words[first], words[first + 1]);
}

double RandomStream::Normal(uint64_t index) const {
  return NormalPair(Block(index / 2))[index % 2];
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
        return std::array{scale(Unit(w[0], w[1])), scale(Unit(w[2], w[3]))};
      }
    });
  });
}

void FillNormal(Tensor& out, double mean, double stddev, const RandomStream& stream) {
  RequireContiguous("fill_normal", out);
  VisitFloat("fill_normal", out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    FillByBlocks<T>(out, stream, [&](const PhiloxCounter& words) {
      const auto [a, b] = NormalPair(words);
      return std::array{static_cast<T>(mean + stddev * a), static_cast<T>(mean + stddev * b)};
    });
  });
}

}  // namespace torus
