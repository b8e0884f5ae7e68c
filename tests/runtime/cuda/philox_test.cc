// Philox for kernels against the CPU's: the same bits.
#include "runtime/cuda/philox.h"

#include <gtest/gtest.h>

#include "runtime/philox.h"

namespace torus::cuda {
namespace {

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

TEST(CudaPhilox, HasTheBitsOfTheCpu) {
  for (uint64_t low : {uint64_t{0}, uint64_t{1}, uint64_t{0xffffffff}, uint64_t{1} << 32,
                       ~uint64_t{0}, uint64_t{0x243f6a8885a308d3}}) {
    for (uint64_t high : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x13198a2e03707344}}) {
      const PhiloxKey key{0xa4093822u, 0x299f31d0u};
      const PhiloxCounter expected = Philox4x32({Low(low), High(low), Low(high), High(high)}, key);
      const PhiloxWords got = PhiloxBlock(low, high, key[0], key[1]);
      for (int i = 0; i < 4; ++i) EXPECT_EQ(got.word[i], expected[i]) << low << " " << high;
    }
  }
}

}  // namespace
}  // namespace torus::cuda
