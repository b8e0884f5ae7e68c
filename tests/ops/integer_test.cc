// Integers, comparisons and logic: exact values, on the CPU and, where there is one, on a GPU.
#include <limits>

#include "ops/elementwise/cast.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/remainder.h"
#include "ops/elementwise/select.h"
#include "runtime/deferred_checks.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

using Wholes = std::vector<int64_t>;
using Bools = std::vector<bool>;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(),
                  kLeast = std::numeric_limits<int64_t>::min();
constexpr DivRounding kTrunc = DivRounding::kTrunc, kFloor = DivRounding::kFloor;

class Integers : public ::testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    if (GetParam().kind == DeviceKind::kCuda && !testing::HasGpu())
      GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
  Variable Of(const Wholes& values, DType dtype = DType::kI64) const {
    return Variable(FromVector(values, {std::ssize(values)}).To(dtype).To(GetParam()));
  }
  Variable Floats(const std::vector<float>& values) const {
    return Variable(FromVector(values, {std::ssize(values)}).To(GetParam()));
  }
};
class Comparisons : public Integers {};

Wholes Values(const Variable& v) {
  return ToVector<int64_t>(v.data().To(Device{}).To(DType::kI64).Contiguous());
}
Bools Truths(const Variable& v) { return ToVector<bool>(v.data().To(Device{}).Contiguous()); }

TEST_P(Integers, AreExactAndWrapAround) {
  const Variable a = Of({kMost, kLeast, (int64_t{1} << 53) + 1, -7}), b = Of({1, -1, 2, 3});
  EXPECT_EQ(Values(Add(a, b)), (Wholes{kLeast, kMost, (int64_t{1} << 53) + 3, -4}));
  EXPECT_EQ(Values(Sub(a, b, 2)), (Wholes{kMost - 2, kLeast + 2, (int64_t{1} << 53) - 3, -13}));
  EXPECT_EQ(Values(Mul(a, b)), (Wholes{kMost, kLeast, (int64_t{1} << 54) + 2, -21}));
  EXPECT_EQ(Values(Neg(a))[1], kLeast);
  EXPECT_EQ(Values(Abs(a)), (Wholes{kMost, kLeast, (int64_t{1} << 53) + 1, 7}));
  EXPECT_EQ(Values(Maximum(a, b)), (Wholes{kMost, -1, (int64_t{1} << 53) + 1, 3}));
  EXPECT_EQ(Values(Minimum(a, b)), (Wholes{1, kLeast, 2, -7}));
  EXPECT_EQ(Values(Clamp(a, -1.0, 5.0)), (Wholes{5, -1, 5, -1}));
  EXPECT_EQ(Values(Sign(a)), (Wholes{1, -1, 1, -1}));
}

TEST_P(Integers, OfEachWidthKeepTheirDtype) {
  const Variable narrow = Of({2147483647, -2147483648}, DType::kI32);
  EXPECT_EQ(Add(narrow, narrow).dtype(), DType::kI32);
  EXPECT_EQ(Values(Add(narrow, 1)), (Wholes{-2147483648, -2147483647}));
  EXPECT_EQ(Values(Square(narrow)), (Wholes{1, 0}));
  EXPECT_EQ(Values(Div(narrow, -1, kTrunc)), (Wholes{-2147483647, -2147483648}));
  const Variable bytes = Of({5, 200}, DType::kU8);
  EXPECT_EQ(Values(Mul(bytes, 2)), (Wholes{10, 144}));
  EXPECT_EQ(Values(Neg(bytes)), (Wholes{251, 56}));
  EXPECT_EQ(Values(Sign(bytes)), (Wholes{1, 1}));
  EXPECT_EQ(Values(Abs(bytes)), (Wholes{5, 200}));
  const Variable bits = Of({0, 1}, DType::kBool);
  EXPECT_EQ(Values(Add(bits, bits)), (Wholes{0, 1}));
  EXPECT_EQ(Add(bits, bits).dtype(), DType::kBool);
}

// The values are torch.div's, remainder's and fmod's.
TEST_P(Integers, Divide) {
  const Variable a = Of({7, -7, 7, -7, kLeast}), b = Of({2, 2, -2, -2, -1});
  EXPECT_EQ(Values(Div(a, b, kTrunc)), (Wholes{3, -3, -3, 3, kLeast}));
  EXPECT_EQ(Values(Div(a, b, kFloor)), (Wholes{3, -4, -4, 3, kLeast}));
  EXPECT_EQ(Values(Remainder(a, b)), (Wholes{1, 1, -1, -1, 0}));
  EXPECT_EQ(Values(Fmod(a, b)), (Wholes{1, -1, 1, -1, 0}));
  EXPECT_EQ(Values(Remainder(a, 3)), (Wholes{1, 2, 1, 2, 1}));
  EXPECT_EQ(Values(Fmod(a, 3)), (Wholes{1, -1, 1, -1, -2}));
  const Variable quotient = Div(a, b);
  EXPECT_EQ(quotient.dtype(), DType::kF32);
  EXPECT_EQ(ToVector<float>(quotient.data().To(Device{}))[1], -3.5f);
  EXPECT_EQ(Div(Of({1}, DType::kBool), Of({1}, DType::kBool)).dtype(), DType::kF32);
}

TEST_P(Integers, AreNotDividedByZero) {
  const Variable a = Of({7, 7, 7}), b = Of({2, 0, 0});
  for (const std::string& message :
       {testing::ErrorOf([&] { Div(a, b, kFloor); }), testing::ErrorOf([&] { Div(a, b, kTrunc); }),
        testing::ErrorOf([&] { Remainder(a, b); }), testing::ErrorOf([&] { Fmod(a, b); })})
    EXPECT_NE(message.find("an integer is divided by zero, at position 1"), message.npos)
        << message;
  EXPECT_THROW(Remainder(a, 0), BadInput);
  EXPECT_THROW(Div(a, 0, kTrunc), BadInput);
  if (GetParam().kind != DeviceKind::kCuda) return;
  DeferredChecks checks(GetParam());
  const DeferredChecks::Scope scope(checks);
  EXPECT_EQ(Values(Div(a, b, kFloor)), (Wholes{3, 7, 7}));
  EXPECT_THROW(checks.Report(), BadInput);
}

TEST_P(Integers, RefuseWhatTheyDoNotHave) {
  const Variable whole = Of({1, 2}), bits = Of({0, 1}, DType::kBool);
  EXPECT_THROW(Add(whole, 0.5), BadInput);
  EXPECT_THROW(Mul(whole, 0x1p54), BadInput);
  EXPECT_THROW(Add(Of({1}, DType::kU8), -1), BadInput);
  EXPECT_THROW(Clamp(whole, 0.5, {}), BadInput);
  EXPECT_THROW(Lt(whole, INFINITY), BadInput);
  EXPECT_THROW(Add(whole, Of({1, 2}, DType::kI32)), BadInput);
  EXPECT_THROW(Div(whole, Of({1, 2}, DType::kI32)), BadInput);
  EXPECT_THROW(Round(whole, 1), BadInput);
  EXPECT_THROW(Sub(bits, bits), BadInput);
  EXPECT_THROW(Abs(bits), BadInput);
  EXPECT_THROW(Remainder(bits, bits), BadInput);
}

TEST_P(Integers, AreSelected) {
  const Variable mask = Of({1, 0, 1}, DType::kBool), a = Of({1, 2, 3}), b = Of({-1, -2, -3});
  EXPECT_EQ(Values(Where(mask, a, b)), (Wholes{1, -2, 3}));
  EXPECT_EQ(Where(mask, Cast(a, DType::kU8), Of({9}, DType::kU8)).dtype(), DType::kU8);
  EXPECT_EQ(Values(MaskedFill(a, mask, 7)), (Wholes{7, 2, 7}));
  EXPECT_THROW(MaskedFill(a, mask, 0.5), BadInput);
}

TEST_P(Comparisons, OfFloats) {
  const Variable a = Floats({1, 2, NAN, -0.0f}), b = Floats({2, 2, NAN, 0});
  EXPECT_EQ(Truths(Eq(a, b)), (Bools{false, true, false, true}));
  EXPECT_EQ(Truths(Ne(a, b)), (Bools{true, false, true, false}));
  EXPECT_EQ(Truths(Lt(a, b)), (Bools{true, false, false, false}));
  EXPECT_EQ(Truths(Le(a, b)), (Bools{true, true, false, true}));
  EXPECT_EQ(Truths(Gt(b, a)), (Bools{true, false, false, false}));
  EXPECT_EQ(Truths(Ge(b, a)), (Bools{true, true, false, true}));
  EXPECT_EQ(Truths(Gt(a, 1)), (Bools{false, true, false, false}));
  EXPECT_EQ(Truths(Ge(a, 1)), (Bools{true, true, false, false}));
  EXPECT_EQ(Truths(Lt(Cast(a, DType::kBF16), 2)), (Bools{true, false, false, true}));
  EXPECT_EQ(Truths(Eq(Floats({0.1f}), 0.1)), Bools{true});
}

TEST_P(Comparisons, BroadcastAndAreExact) {
  const int64_t big = int64_t{1} << 60;
  const Variable column(Of({big, big + 1}).data().View({2, 1})), row = Of({big, big + 2});
  EXPECT_EQ(Lt(column, row).shape(), Shape({2, 2}));
  EXPECT_EQ(Truths(Lt(column, row)), (Bools{false, true, false, true}));
  EXPECT_EQ(Truths(Eq(Of({3, 4}, DType::kI32), 3)), (Bools{true, false}));
  EXPECT_EQ(Truths(Ge(Of({0, 1}, DType::kBool), Of({1, 1}, DType::kBool))), (Bools{false, true}));
  EXPECT_EQ(Truths(Gt(Of({250}, DType::kU8), 7)), Bools{true});
  EXPECT_THROW(Eq(row, Of({1, 2}, DType::kI32)), BadInput);
  EXPECT_THROW(Eq(row, Of({1, 2, 3})), BadInput);
}

TEST_P(Comparisons, Logic) {
  const Variable a = Floats({0, 0, NAN, -1}), b = Of({0, 5, 0, 1}, DType::kI32);
  EXPECT_EQ(Truths(LogicalAnd(a, b)), (Bools{false, false, false, true}));
  EXPECT_EQ(Truths(LogicalOr(a, b)), (Bools{false, true, true, true}));
  EXPECT_EQ(Truths(LogicalXor(a, b)), (Bools{false, true, true, false}));
  EXPECT_EQ(Truths(LogicalNot(a)), (Bools{true, true, false, false}));
  EXPECT_EQ(Truths(LogicalNot(LogicalNot(b))), (Bools{false, true, false, true}));
}

TEST_P(Comparisons, OfWhatIsFinite) {
  const Variable x = Floats({NAN, INFINITY, -INFINITY, 3e38f});
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    SCOPED_TRACE(Name(dtype));
    EXPECT_EQ(Truths(IsNan(Cast(x, dtype))), (Bools{true, false, false, false}));
    EXPECT_EQ(Truths(IsInf(Cast(x, dtype))), (Bools{false, true, true, false}));
    EXPECT_EQ(Truths(IsFinite(Cast(x, dtype))), (Bools{false, false, false, true}));
  }
  const Variable whole = Of({0, 7});
  EXPECT_EQ(Truths(IsNan(whole)), (Bools{false, false}));
  EXPECT_EQ(Truths(IsInf(whole)), (Bools{false, false}));
  EXPECT_EQ(Truths(IsFinite(whole)), (Bools{true, true}));
}

constexpr Device kCpu{};
INSTANTIATE_TEST_SUITE_P(OnEachDevice, Integers, ::testing::Values(kCpu, testing::kFirstGpu));
INSTANTIATE_TEST_SUITE_P(OnEachDevice, Comparisons, ::testing::Values(kCpu, testing::kFirstGpu));

}  // namespace
}  // namespace torus::ops
