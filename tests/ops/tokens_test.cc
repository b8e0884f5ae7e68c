// Masks and positions of tokens.
#include "ops/tokens/tokens.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::ops {
namespace {

TEST(Tokens, PositionsCountBehindThePadding) {
  const Tensor ids = FromVector<int64_t>({0, 5, 1, 7, 1, 1, 9, 2}, {2, 4});
  EXPECT_EQ(ToVector<int64_t>(PositionsBehindPadding(ids, 1)),
            (std::vector<int64_t>{2, 3, 1, 4, 1, 1, 2, 3}));
}

std::vector<int64_t> Values(const Tensor& mask) { return ToVector<int64_t>(mask.To(DType::kI64)); }

TEST(Tokens, ACausalMaskLeavesOutLaterTokensAndPadding) {
  const Tensor tokens = FromVector<int64_t>({1, 1, 1, 0, 1, 1}, {2, 3});
  const Tensor mask = CausalMask(tokens);
  EXPECT_EQ(mask.shape(), (Shape{2, 1, 3, 3}));
  EXPECT_EQ(Values(mask), (std::vector<int64_t>{1, 0, 0, 1, 1, 0, 1, 1, 1,  //
                                                0, 0, 0, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(CausalMask(tokens.To(DType::kBool)).shape(), mask.shape());
}

TEST(Tokens, TheLastQueriesAttendToAllBeforeThem) {
  const Tensor mask = CausalMask(2, 4);
  EXPECT_EQ(mask.shape(), (Shape{1, 1, 2, 4}));
  EXPECT_EQ(Values(mask), (std::vector<int64_t>{1, 1, 1, 0, 1, 1, 1, 1}));
}

TEST(Tokens, AreMadeWhereTheirIdsAre) {
  const Tensor ids = Empty({2, 1000000}, DType::kI64, kMetaDevice);
  EXPECT_EQ(PositionsBehindPadding(ids, 1).device(), kMetaDevice);
  EXPECT_EQ(CausalMask(ids).device(), kMetaDevice);
  EXPECT_EQ(CausalMask(ids).shape(), (Shape{2, 1, 1000000, 1000000}));
}

TEST(Tokens, NeedRowsOfIds) {
  EXPECT_THROW(PositionsBehindPadding(Zeros({3}, DType::kI64), 1), BadInput);
  EXPECT_THROW(CausalMask(Zeros({3}, DType::kI64)), BadInput);
  EXPECT_THROW(CausalMask(5, 4), BadInput);
}

}  // namespace
}  // namespace torus::ops
