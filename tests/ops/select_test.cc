#include "ops/elementwise/select.h"

#include "ops/elementwise/binary.h"
#include "ops/elementwise/kernels.h"
#include "runtime/team_size_guard.h"
#include "tests/ops/op_test.h"
#include "tests/testing/largest_team.h"

namespace torus::ops {
namespace {

// Where `like` lies.
Variable Mask(const Shape& shape, const Variable& like) {
  Tensor mask(shape, DType::kBool);
  for (int64_t i = 0; i < mask.numel(); ++i) mask.mutable_data<bool>()[i] = i % 3 == 0;
  return Variable(mask.To(like.data().device()));
}

GRADIENT_CASE(where, Broadcast) {
  Check(
      [](const Variables& in) {
        return Variables{Where(Mask({4, 3}, in[0]), in[0], in[1])};
      },
      {RandomLeaf({2, 1, 3}), TransposedLeaf({4, 3}, 1)});
}
GRADIENT_CASE(where, OneInputTwice) {
  Check([](const Variables& in) { return Variables{Where(Mask({3}, in[0]), in[0], in[0])}; },
        {RandomLeaf({3})});
}
GRADIENT_CASE(where, MaskedFillByTensor) {
  Check([](const Variables& in) { return Variables{MaskedFill(in[0], Mask({3}, in[0]), in[1])}; },
        {RandomLeaf({2, 3}), RandomLeaf({}, 1)});
}
GRADIENT_CASE(where, MaskedFillByNumber) {
  Check(
      [](const Variables& in) {
        return Variables{MaskedFill(in[0], Mask({2, 1}, in[0]), -5)};
      },
      {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(where, Triangles) {
  Check(
      [](const Variables& in) {
        return Variables{Tril(in[0], -1), Triu(in[0], 1)};
      },
      {TransposedLeaf({2, 3, 4})});
}
GRADIENT_CASE(where, Empty) {
  Check([](const Variables& in) { return Variables{Tril(in[0])}; }, {RandomLeaf({0, 3})});
}

// Elements are moved, whatever their type: a NaN keeps its bits.
TEST(Select, TakesEveryType) {
  const Variable mask = Mask({4}, Variable(Zeros({4})));  // true, false, false, true
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64,
                            DType::kI32, DType::kU8, DType::kBool}) {
    const Tensor a = Full({4}, 1, dtype), b = Full({4}, 0, dtype);
    const Tensor out = ApplySelect("where", mask.data(), a, b);
    EXPECT_EQ(out.dtype(), dtype);
    EXPECT_EQ(ToVector<int64_t>(out.To(DType::kI64)), (std::vector<int64_t>{1, 0, 0, 1}));
  }
  Tensor nan({1}, DType::kBF16);
  nan.mutable_data<BFloat16>()->bits = 0x7f85;
  const Tensor kept = ApplySelect("where", Full({1}, 1, DType::kBool), nan, nan);
  EXPECT_EQ(kept.data<BFloat16>()->bits, 0x7f85);
}

TEST(Select, Triangles) {
  const Variable x(Arange(6, DType::kF32).View({2, 3}));
  EXPECT_EQ(ToVector<float>(Tril(x).data()), (std::vector<float>{0, 0, 0, 3, 4, 0}));
  EXPECT_EQ(ToVector<float>(Tril(x, 1).data()), (std::vector<float>{0, 1, 0, 3, 4, 5}));
  EXPECT_EQ(ToVector<float>(Triu(x, 1).data()), (std::vector<float>{0, 1, 2, 0, 0, 5}));
}

TEST(Select, LongTrianglesTakeAllThreads) {
  const TeamSizeGuard guard(3);
  Tensor mask({400, 300}, DType::kBool);
  EXPECT_EQ(testing::LargestTeamOf([&] { kernels::Band("tril", INT64_MIN, 0, mask); }), 3);
}

// What is not chosen does not spread: infinity times zero would.
TEST(Select, InfinityStaysOut) {
  const Variable x(Full({2}, INFINITY));
  const Variable mask(Full({2}, 1, DType::kBool));
  EXPECT_EQ(ToVector<float>(MaskedFill(x, mask, 0).data()), (std::vector<float>{0, 0}));
}

TEST(Select, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2})), mask(Zeros({2}, DType::kBool));
  EXPECT_THROW(Where(x, x, x), BadInput);
  EXPECT_THROW(Where(mask, x, Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(MaskedFill(x, mask, x), BadInput);
  EXPECT_THROW(Tril(x), BadInput);
}

}  // namespace
}  // namespace torus::ops
