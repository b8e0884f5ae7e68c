#include "runtime/rng.h"

#include "runtime/cpu/random_fill.h"
#include "runtime/gpu_dispatch.h"
#include "runtime/kernels.h"
#include "runtime/normal.h"

namespace torus {
namespace {

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

float Unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

void RequireContiguous(const char* op, const Tensor& out) {
  Require(out.defined() && out.is_contiguous(), op, "needs a contiguous tensor, got {}", out);
}

// Fills a CPU tensor and copies it.
template <class Draw>
void FillByCopy(Tensor& out, const Draw& draw) {
  Tensor drawn(out.shape(), out.dtype());
  draw(drawn);
  Copy(drawn, out);
}

}  // namespace

uint64_t HashName(const char* name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return hash;
}

// Two Philox calls map the four numbers to a key and the upper half of the counter. Each is a
// bijection of its counter, so keys that differ only in seed or step never collide.
RandomStream::RandomStream(const RandomKey& key) : of_(key) {
  const PhiloxCounter place =
      Philox4x32({Low(key.seed), High(key.seed), Low(key.step), High(key.step)},
                 {Low(key.layer), High(key.layer)});
  const PhiloxCounter mixed = Philox4x32(place, {Low(key.sample), High(key.sample)});
  key_ = {mixed[0], mixed[1]};
  high_ = Join(mixed[2], mixed[3]);
}

RandomStream RandomStream::InStep(uint64_t step) const {
  RandomKey key = of_;
  key.step = step;
  return RandomStream(key);
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
  Dispatch(
      "fill_uniform", out.device(), [&] { cpu::FillUniform(out, low, high, stream); },
      [&] { FillByCopy(out, [&](Tensor& drawn) { cpu::FillUniform(drawn, low, high, stream); }); });
}

void FillNormal(Tensor& out, double mean, double stddev, const RandomStream& stream) {
  RequireContiguous("fill_normal", out);
  Dispatch(
      "fill_normal", out.device(), [&] { cpu::FillNormal(out, mean, stddev, stream); },
      [&] {
        FillByCopy(out, [&](Tensor& drawn) { cpu::FillNormal(drawn, mean, stddev, stream); });
      });
}

}  // namespace torus
