#include "ops/indexing/indexing.h"

#include "autograd/backward.h"
#include "runtime/parallel_for.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

Variable Index(const std::vector<int64_t>& values, const Shape& shape) {
  return Variable(FromVector(values, shape));
}

// An index where the input lies: the checks of gradients run on GPUs too.
Variable Beside(const Variable& input, const Variable& index) {
  return Variable(index.data().To(input.data().device()));
}

testing::CheckedFunction SelectOf(int64_t dim, const Variable& index) {
  return
      [=](const Variables& in) { return Variables{IndexSelect(in[0], dim, Beside(in[0], index))}; };
}
testing::CheckedFunction GatherOf(int64_t dim, const Variable& index) {
  return [=](const Variables& in) { return Variables{Gather(in[0], dim, Beside(in[0], index))}; };
}

GRADIENT_CASE(index_select, RepeatedRows) {
  Check(SelectOf(0, Index({2, 0, 2}, {3})), {TransposedLeaf({3, 2})});
}
GRADIENT_CASE(index_select, Middle) {
  Check(SelectOf(-2, Index({1, 1}, {2})), {RandomLeaf({2, 3, 2})});
}
GRADIENT_CASE(index_select, ScalarInput) { Check(SelectOf(0, Index({0}, {1})), {RandomLeaf({})}); }
GRADIENT_CASE(index_select, NoIndex) { Check(SelectOf(1, Index({}, {0})), {RandomLeaf({2, 3})}); }
GRADIENT_CASE(gather, Columns) {
  Check(GatherOf(1, Index({0, 2, 2, 1}, {2, 2})), {TransposedLeaf({3, 3})});
}
GRADIENT_CASE(gather, MoreThanTheInput) {
  Check(GatherOf(0, Index({1, 0, 1, 1, 0, 0}, {3, 1, 2})), {RandomLeaf({2, 2, 2})});
}
GRADIENT_CASE(gather, Scalars) { Check(GatherOf(0, Index({0}, {})), {RandomLeaf({})}); }
GRADIENT_CASE(gather, NoIndex) { Check(GatherOf(0, Index({}, {0, 2})), {RandomLeaf({3, 2})}); }
GRADIENT_CASE(gather, EmptyIndexOfAnotherRank) {
  Check(GatherOf(0, Variable(Zeros({2, 0}, DType::kU8))), {RandomLeaf({3})});
}
GRADIENT_CASE(embedding, Tokens) {
  Check(
      [](const Variables& in) {
        return Variables{Embedding(Beside(in[0], Index({3, 0, 3, 1}, {2, 2})), in[0])};
      },
      {TransposedLeaf({4, 3})});
}

TEST(Embedding, PaddingGetsNoGradient) {
  for (int64_t padding : {2, -1}) {
    const Variable weight(Zeros({3, 2}), true);
    Backward({Embedding(Index({2, 0, 2}, {3}), weight, padding)}, {Full({3, 2}, 1)});
    EXPECT_EQ(ToVector<float>(weight.grad()), (std::vector<float>{1, 1, 0, 0, 0, 0}));
  }
}

TEST(Indexing, Values) {
  const Variable x(Arange(6, DType::kF32).View({2, 3}));
  EXPECT_EQ(ToVector<float>(IndexSelect(x, 1, Index({2, 0}, {2})).data()),
            (std::vector<float>{2, 0, 5, 3}));
  const Variable small(FromVector<int32_t>({2, 1}, {2, 1}));
  EXPECT_EQ(ToVector<float>(Gather(x, 1, small).data()), (std::vector<float>{2, 4}));
  EXPECT_EQ(Embedding(Index({1}, {}), x).shape(), Shape({3}));
}

TEST(Indexing, BitsDoNotDependOnThreads) {
  const int before = TeamSize();
  std::vector<int64_t> index(3000);
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int64_t>(i * i % 7);
  const auto gradient = [&](int threads) {
    SetTeamSize(threads);
    const Variable weight(Zeros({7, 33}), true);
    const Variable out = Embedding(Index(index, {3000}), weight);
    Tensor seed(out.shape(), DType::kF32);
    for (int64_t i = 0; i < seed.numel(); ++i)
      seed.mutable_data<float>()[i] = static_cast<float>(i % 101) * 0.1f;
    Backward({out}, {seed});
    return ToVector<float>(weight.grad());
  };
  EXPECT_EQ(gradient(1), gradient(3));
  SetTeamSize(before);
}

TEST(Indexing, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3}));
  try {
    IndexSelect(x, 1, Index({0, 3}, {2}));
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[index_select] index 3 at position 1 is outside of [0, 3)");
  }
  EXPECT_THROW(IndexSelect(x, 0, Index({-1}, {1})), BadInput);
  EXPECT_THROW(IndexSelect(x, 0, Index({0}, {1, 1})), BadInput);
  EXPECT_THROW(IndexSelect(x, 0, Variable(Zeros({1}))), BadInput);
  EXPECT_THROW(Gather(x, 0, Index({0}, {1})), BadInput);
  EXPECT_THROW(Gather(x, 0, Index({0, 0, 0, 0}, {1, 4})), BadInput);
  EXPECT_THROW(Embedding(Index({2}, {1}), x), BadInput);
  EXPECT_THROW(Embedding(Index({0}, {1}), x, 2), BadInput);
}

}  // namespace
}  // namespace torus::ops
