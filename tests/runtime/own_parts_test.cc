#include "runtime/own_parts.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

TEST(OwnParts, AreWrittenApartAndKeepTheirMemory) {
  std::vector<Tensor> parts = OwnParts(FromVector<float>({1, 2, 3, 4, 5, 6}, {3, 2}), {1, 2});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(parts[1].shape(), (Shape{2, 2}));
  for (const Tensor& part : parts) {
    EXPECT_EQ(part.storage().use_count(), 1);
    EXPECT_EQ(part.bytes(), part.storage()->bytes());
  }
  Fill(parts[0], 7);
  parts[0] = {};
  EXPECT_EQ(ToVector<float>(parts[1]), (std::vector<float>{3, 4, 5, 6}));
}

TEST(OwnParts, OfNothingAreUndefined) {
  for (const Tensor& part : OwnParts({}, {1, 2})) EXPECT_FALSE(part.defined());
  EXPECT_THROW(OwnParts(Zeros({2, 3}).Transpose(0, 1), {1, 2}), InternalError);
}

}  // namespace
}  // namespace torus
