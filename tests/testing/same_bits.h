// For tests of what must be the same to the last bit.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::testing {

// The same type, shape and bytes, on whatever device each is. `what`: said if not.
inline void ExpectSameBits(const Tensor& got, const Tensor& want, const std::string& what = "") {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  if (got.numel() == 0) return;
  const Tensor a = got.To(Device{}).Contiguous(), b = want.To(Device{}).Contiguous();
  EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.bytes()), 0) << what << " has other bits";
}

// The same names too, in the same order.
inline void ExpectSameBits(const std::vector<NamedTensor>& got,
                           const std::vector<NamedTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, want[i].name);
    ExpectSameBits(got[i].value, want[i].value, got[i].name);
  }
}

}  // namespace torus::testing
