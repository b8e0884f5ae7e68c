// Division of indices on both sides of 32 bits.
#include "runtime/cuda/divide.h"

#include <gtest/gtest.h>

namespace torus::cuda {
namespace {

TEST(Divide, IsExactOnBothSidesOf32Bits) {
  constexpr int64_t k32 = int64_t{1} << 32;
  for (int64_t index : {int64_t{0}, int64_t{7}, k32 / 2, k32 - 1, k32, k32 + 1, 5 * k32 + 3})
    for (int64_t by : {int64_t{1}, int64_t{3}, k32 / 2 + 1, k32 - 1, k32, k32 + 2}) {
      const Divided d = Divide(index, by);
      EXPECT_EQ(d.quotient, index / by) << index << " by " << by;
      EXPECT_EQ(d.rest, index % by) << index << " by " << by;
    }
}

}  // namespace
}  // namespace torus::cuda
