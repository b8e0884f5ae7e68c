#include "tools/replay/promotion.h"

#include <gtest/gtest.h>

namespace torus::replay {
namespace {

Operand Of(DType dtype, const Shape& shape = {2}) { return {Variable(Zeros(shape, dtype)), {}}; }
Operand Number() { return {{}, 0.5}; }
Operand Whole() { return {{}, -2, true}; }

// What torch.result_type says of each.
TEST(PromotedType, IsPyTorchs) {
  EXPECT_EQ(PromotedType({Of(DType::kF32), Of(DType::kF64)}), DType::kF64);
  EXPECT_EQ(PromotedType({Of(DType::kF16), Of(DType::kBF16)}), DType::kF32);
  EXPECT_EQ(PromotedType({Of(DType::kF16), Of(DType::kI64)}), DType::kF16);
  EXPECT_EQ(PromotedType({Of(DType::kBool), Of(DType::kU8)}), DType::kU8);
  EXPECT_EQ(PromotedType({Of(DType::kF32), Of(DType::kF64, {})}), DType::kF32);
  EXPECT_EQ(PromotedType({Of(DType::kI64), Of(DType::kF64, {})}), DType::kF64);
  EXPECT_EQ(PromotedType({Of(DType::kF64, {}), Of(DType::kF32, {})}), DType::kF64);
  EXPECT_EQ(PromotedType({Of(DType::kI32), Number()}), DType::kF32);
  EXPECT_EQ(PromotedType({Of(DType::kF16), Number()}), DType::kF16);
  EXPECT_EQ(PromotedType({Number(), Number()}), DType::kF32);
  EXPECT_EQ(PromotedType({Of(DType::kI32), Whole()}), DType::kI32);
  EXPECT_EQ(PromotedType({Of(DType::kBool), Whole()}), DType::kI64);
  EXPECT_EQ(PromotedType({Of(DType::kF16), Whole()}), DType::kF16);
  EXPECT_EQ(PromotedType({Whole(), Number()}), DType::kF32);
}

TEST(Promote, CastsTensorsAndMakesNumbersScalars) {
  const auto all = Promote({Of(DType::kI64), {}, Number(), Of(DType::kF64)});
  EXPECT_EQ(all[0].dtype(), DType::kF64);
  EXPECT_FALSE(all[1].defined());
  EXPECT_EQ(all[2].data().Item(), 0.5);
  EXPECT_EQ(all[2].shape(), Shape({}));
  EXPECT_EQ(Promote({Of(DType::kU8), Whole()})[1].data().Item(), 254);
}

}  // namespace
}  // namespace torus::replay
