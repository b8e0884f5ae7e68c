#include "ops/elementwise/operators.h"

#include <cmath>
#include <concepts>

#include "autograd/node.h"
#include "autograd/precision.h"
#include "ops/activation/activation.h"
#include "ops/activation/swiglu.h"
#include "ops/einsum/einsum.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/nonzero.h"
#include "ops/layer_norm/group_norm.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "ops/loss/mse_loss.h"
#include "ops/loss/nll_loss.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/pad/pad.h"
#include "ops/pooling/average_pool.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/reduction.h"
#include "ops/resampling/pixel_shuffle.h"
#include "ops/resampling/unfold.h"
#include "ops/softmax/softmax.h"
#include "ops/sort/sort.h"
#include "ops/view/diagonal.h"
#include "ops/view/join.h"
#include "ops/view/order.h"
#include "ops/view/repeat.h"
#include "ops/view/view.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using ops::Floats;
using testing::ErrorOf;
using testing::RandomLeaf;
using testing::UniformLeaf;
using Bools = std::vector<bool>;

Tensor T(const Floats& values) { return FromVector(values, {std::ssize(values)}); }

GRADIENT_CASE(div, NumberOverVariable) {
  Check([](const std::vector<Variable>& in) { return std::vector{2 / in[0]}; },
        {UniformLeaf({3}, 1, 2)});
}
GRADIENT_CASE(mul, AnExpressionOfOperators) {
  Check(
      [](const std::vector<Variable>& in) {
        const auto &a = in[0], &b = in[1];
        return std::vector{(1 - a) * (b - 2) / (3 + b * b) + (-a / 2)};
      },
      {RandomLeaf({2, 3}), RandomLeaf({3}, 1)});
}

TEST(Operators, AreTheArithmeticOfBothSides) {
  const Tensor a = T({1, 2, -4}), b = T({4, 8, 2});
  EXPECT_EQ(ToVector<float>(a + b), (Floats{5, 10, -2}));
  EXPECT_EQ(ToVector<float>(a - b), (Floats{-3, -6, -6}));
  EXPECT_EQ(ToVector<float>(a * b), (Floats{4, 16, -8}));
  EXPECT_EQ(ToVector<float>(a / b), (Floats{0.25, 0.25, -2}));
  EXPECT_EQ(ToVector<float>(a + 1), (Floats{2, 3, -3}));
  EXPECT_EQ(ToVector<float>(1 + a), (Floats{2, 3, -3}));
  EXPECT_EQ(ToVector<float>(a - 1), (Floats{0, 1, -5}));
  EXPECT_EQ(ToVector<float>(1 - a), (Floats{0, -1, 5}));
  EXPECT_EQ(ToVector<float>(a * 2), (Floats{2, 4, -8}));
  EXPECT_EQ(ToVector<float>(2 * a), (Floats{2, 4, -8}));
  EXPECT_EQ(ToVector<float>(a / 4), (Floats{0.25, 0.5, -1}));
  EXPECT_EQ(ToVector<float>(4 / a), (Floats{4, 2, -1}));
  EXPECT_EQ(ToVector<float>(-a), (Floats{-1, -2, 4}));
}

TEST(Operators, ComparisonsGiveMasks) {
  const Tensor a = T({1, 2, NAN}), b = T({2, 2, 2});
  EXPECT_EQ(ToVector<bool>(a < b), (Bools{true, false, false}));
  EXPECT_EQ(ToVector<bool>(a <= b), (Bools{true, true, false}));
  EXPECT_EQ(ToVector<bool>(a > b), (Bools{false, false, false}));
  EXPECT_EQ(ToVector<bool>(b >= a), (Bools{true, true, false}));
  EXPECT_EQ(ToVector<bool>(a >= 2), (Bools{false, true, false}));
  EXPECT_EQ(ToVector<bool>(2 > a), (Bools{true, false, false}));
  EXPECT_EQ(ToVector<bool>(a.To(DType::kBF16) < 1.5), (Bools{true, false, false}));
  EXPECT_EQ(ToVector<bool>(ops::Eq(a, b)), (Bools{false, true, false}));
  const Variable x(a, true);
  const Variable mask = x <= 1;
  EXPECT_EQ(ToVector<bool>(mask.data()), (Bools{true, false, false}));
  EXPECT_FALSE(mask.requires_grad());
}

TEST(Operators, AnIntegerTensorRefusesANumberThatItDoesNotHave) {
  const Tensor whole = FromVector<int64_t>({2, 3}, {2});
  EXPECT_EQ(ErrorOf([&] { whole + 2.5; }), "[add] 2.5 is no i64");
  EXPECT_EQ(ErrorOf([&] { 2.5 - whole; }), "[sub] 2.5 is no i64");
  EXPECT_EQ(ErrorOf([&] { 2.5 / whole; }), "[div] 2.5 is no i64");
  EXPECT_EQ(ErrorOf([&] { whole < 2.5; }), "[lt] 2.5 is no i64");
  EXPECT_EQ(ErrorOf([&] { 2.5 >= whole; }), "[le] 2.5 is no i64");
  EXPECT_EQ(ToVector<float>(3 / whole), (Floats{1.5, 1}));
  EXPECT_EQ(ToVector<bool>(2 < whole), (Bools{false, true}));
}

TEST(Operators, OnVariablesRecordAndOnTensorsDoNot) {
  const Variable x(T({3}), true), y(T({3}), true);
  EXPECT_EQ((x * y).node()->op(), "mul");
  static_assert(std::same_as<decltype(x == y), bool>);
  EXPECT_FALSE(x == y);
  const Variable same = x;
  EXPECT_TRUE(x == same);
}

// An op's error names the op, where it is told of an undefined variable.
TEST(Operators, AndOpsNameThemselvesWhereAnInputIsUndefined) {
  const Variable x(T({1, 2})), none;
  const std::string both = "needs defined inputs, got f32 (2) on cpu and none";
  EXPECT_EQ(ErrorOf([&] { x + none; }), "[add] " + both);
  EXPECT_EQ(ErrorOf([&] { x.data() * Tensor(); }), "[mul] " + both);
  EXPECT_EQ(ErrorOf([&] { x < none; }), "[lt] " + both);
  EXPECT_EQ(ErrorOf([&] { 1 / none; }), "[div] needs defined inputs, got none");
  EXPECT_EQ(ErrorOf([&] { none >= 1; }), "[ge] needs defined inputs, got none");
  EXPECT_EQ(ErrorOf([&] { ops::Matmul(x, none); }), "[matmul] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::Linear(x, none); }), "[linear] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::Maximum(x, none); }), "[maximum] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::MseLoss(x, none); }), "[mse_loss] " + both);
  const std::string one = "needs defined inputs, got none";
  EXPECT_EQ(ErrorOf([&] { ops::Exp(none); }), "[exp] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Softmax(none, 0); }), "[softmax] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Sum(none); }), "[sum] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Reshape(none, {1}); }), "[reshape] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Cat({x, none}); }), "[cat] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Tril(none); }), "[where] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::LayerNorm(none, {2}); }), "[layer_norm] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Abs(none); }), "[abs] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Eq(none, 1); }), "[eq] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::RmsNorm(none, {2}); }), "[rms_norm] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::GroupNorm(none, 2); }), "[group_norm] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Pad(none, {1, 1}); }), "[pad] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::AvgPool2d(none, {.kernel_size = {2}}); }), "[avg_pool2d] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Flip(none, {0}); }), "[flip] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Repeat(none, {2}); }), "[repeat] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Diagonal(none); }), "[diagonal] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Sort(none); }), "[sort] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Unfold(none, {2}); }), "[unfold] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::PixelShuffle(none, 2); }), "[pixel_shuffle] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::LogSumExp(none, {0}); }), "[logsumexp] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Einsum("i,i", {x, none}); }), "[einsum] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Swiglu(x, none); }), "[swiglu] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::Prelu(x, none); }), "[prelu] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::MaskedSelect(x, none); }), "[masked_select] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::NllLoss(x, none); }), "[nll_loss] " + both);
  EXPECT_EQ(ErrorOf([] { ops::Argmax(Tensor()); }),
            "[argmax] needs a defined tensor, got an undefined one");
  const WithPrecision low(DType::kBF16);
  EXPECT_EQ(ErrorOf([&] { x + none; }), "[add] " + both);
  EXPECT_EQ(ErrorOf([&] { ops::Exp(none); }), "[exp] " + one);
  EXPECT_EQ(ErrorOf([&] { ops::Maximum(x, none); }), "[maximum] " + both);
}

}  // namespace
}  // namespace torus
