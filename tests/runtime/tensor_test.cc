#include "runtime/tensor.h"

#include <gtest/gtest.h>

namespace torus {
namespace {

TEST(Tensor, ViewsShareMemory) {
  Tensor a = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor t = a.Transpose(0, 1);
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(ToVector<float>(t), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  a.mutable_data<float>()[1] = 20;
  EXPECT_EQ(t.Select(0, 1).Select(0, 0).Item(), 20);
}

TEST(Tensor, ErrorsNameWhatWasRequiredAndWhatCame) {
  try {
    Zeros({2, 3}).Narrow(1, 2, 2);
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[narrow] [2, 2 + 2) is outside of dimension 1 of shape (2, 3)");
  }
}

}  // namespace
}  // namespace torus
