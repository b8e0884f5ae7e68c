#include "ops/indexing/indexing.h"

#include <cmath>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "ops/indexing/embedding_bag.h"
#include "ops/matmul/linear.h"
#include "ops/reduction/reduction.h"
#include "runtime/parallel_for.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/largest_team.h"

namespace torus::ops {
namespace {

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

// The gradient does not go through the scaling to a norm, so no row is scaled here; and it is the
// derivative by a row's count where no row comes twice.
GRADIENT_CASE(embedding, MaxNorm) {
  Check(
      [](const Variables& in) {
        return Variables{Embedding(Beside(in[0], Index({3, 0, 3, 1}, {2, 2})), in[0], {}, 1e6)};
      },
      {RandomLeaf({4, 3})});
}
GRADIENT_CASE(embedding, ScaleGradByFrequency) {
  Check(
      [](const Variables& in) {
        const Variable index = Beside(in[0], Index({3, 0, 2}, {3, 1}));
        return Variables{Embedding(index, in[0], 1, {}, 2, /*scale_grad_by_freq=*/true)};
      },
      {TransposedLeaf({4, 3})});
}
GRADIENT_CASE(embedding, ScaleGradByFrequencyOfNothing) {
  Check(
      [](const Variables& in) {
        const Variable index = Beside(in[0], Index({}, {0}));
        return Variables{Embedding(index, in[0], {}, 1.0, 2, /*scale_grad_by_freq=*/true)};
      },
      {RandomLeaf({4, 3})});
}

// Bags {3, 0}, {}, {3} and {1, 2}; offsets where the weight lies.
Variable Bags(const Variable& weight, const EmbeddingBagOptions& options) {
  return EmbeddingBag(Beside(weight, Index({3, 0, 3, 1, 2}, {5})), weight,
                      Beside(weight, Index({0, 2, 2, 3}, {4})), options);
}

testing::CheckedFunction BagsOf(const EmbeddingBagOptions& options) {
  return [=](const Variables& in) {
    EmbeddingBagOptions o = options;
    if (in.size() > 1) o.per_sample_weights = in[1];
    return Variables{Bags(in[0], o)};
  };
}

GRADIENT_CASE(embedding_bag, Sum) {
  Check(BagsOf({.mode = BagMode::kSum}), {TransposedLeaf({4, 3})});
}
GRADIENT_CASE(embedding_bag, WeightedSum) {
  Check(BagsOf({.mode = BagMode::kSum}), {RandomLeaf({4, 3}), RandomLeaf({5}, 1)});
}
GRADIENT_CASE(embedding_bag, Mean) { Check(BagsOf({}), {RandomLeaf({4, 3})}); }
GRADIENT_CASE(embedding_bag, Max) { Check(BagsOf({.mode = BagMode::kMax}), {RandomLeaf({4, 3})}); }
// The gradient of a row that pads is not its derivative where nothing else has it: no bag has it.
GRADIENT_CASE(embedding_bag, Padding) {
  for (const BagMode mode : {BagMode::kSum, BagMode::kMean, BagMode::kMax})
    Check(BagsOf({.mode = mode, .padding_idx = -4}), {RandomLeaf({4, 3})});
}
GRADIENT_CASE(embedding_bag, RowsOfIndices) {
  Check(
      [](const Variables& in) {
        const Variable index = Beside(in[0], Index({3, 0, 1, 3, 2, 2}, {2, 3}));
        return Variables{EmbeddingBag(index, in[0]),
                         EmbeddingBag(index, in[0], {}, {.mode = BagMode::kMax})};
      },
      {RandomLeaf({4, 3})});
}
GRADIENT_CASE(embedding_bag, NoIndex) {
  Check(
      [](const Variables& in) {
        return Variables{
            EmbeddingBag(Beside(in[0], Index({}, {0})), in[0], Beside(in[0], Index({0, 0}, {2})))};
      },
      {RandomLeaf({4, 3})});
}

TEST(EmbeddingBag, RefusesWhatDoesNotFit) {
  const Variable weight(Full({4, 3}, 1)), index = Index({3, 0, 3}, {3});
  const auto bags = [&](const std::vector<int64_t>& offsets, const EmbeddingBagOptions& o = {}) {
    return EmbeddingBag(index, weight, Index(offsets, {std::ssize(offsets)}), o);
  };
  EXPECT_EQ(bags({0, 2}).shape(), Shape({2, 3}));
  EXPECT_EQ(bags({0, 2, 3}, {.include_last_offset = true}).shape(), Shape({2, 3}));
  EXPECT_THROW(bags({1, 2}), BadInput) << "the first index is in no bag";
  EXPECT_THROW(bags({0, 4}), BadInput);
  EXPECT_THROW(bags({0, 2, 1}), BadInput);
  EXPECT_THROW(bags({}), BadInput);
  EXPECT_THROW(EmbeddingBag(index, weight), BadInput) << "no offsets";
  EXPECT_THROW(EmbeddingBag(Index({1, 2}, {2, 1}), weight, Index({0}, {1})), BadInput);
  const Variable factors(Full({3}, 1)), few(Full({2}, 1));
  EXPECT_THROW(bags({0}, {.per_sample_weights = factors}), BadInput) << "of a mean";
  EXPECT_THROW(bags({0}, {.mode = BagMode::kSum, .per_sample_weights = few}), BadInput);
  EXPECT_THROW(bags({0}, {.scale_grad_by_freq = true, .mode = BagMode::kMax}), BadInput);
  EXPECT_THROW(bags({0}, {.padding_idx = 4}), BadInput);
}

TEST(EmbeddingBag, OfEqualLargestElementsTheFirstGetsTheGradient) {
  Variable weight(Full({3, 1}, 2), true);
  Backward({EmbeddingBag(Index({2, 0, 1}, {1, 3}), weight, {}, {.mode = BagMode::kMax})},
           {Full({1, 1}, 5)});
  EXPECT_EQ(ToVector<float>(weight.grad()), (std::vector<float>{0, 0, 5}));
}

TEST(Embedding, GradientsOfRepeatedRowsAreMeans) {
  const Variable weight(Zeros({3, 2}), true);
  const Variable y = Embedding(Index({2, 0, 2, 1, 2}, {5}), weight, 1, {}, 2, true);
  Backward({y}, {FromVector<float>({3, 0, 5, 7, 6, 0, 9, 9, 9, 6}, {5, 2})});
  EXPECT_EQ(ToVector<float>(weight.grad()), (std::vector<float>{5, 7, 0, 0, 6, 2}));
}

// Rows 0 to 3 have the 2-norms 5, 13, 10 and 0.5. PyTorch divides by the norm plus 1e-7.
TEST(Embedding, ScalesRowsThatAreTooLong) {
  const auto rows = [] { return FromVector<float>({3, 4, 5, 12, -6, 8, 0.3f, 0.4f}, {4, 2}); };
  const auto expect = [](const Tensor& got, const std::vector<double>& want) {
    const std::vector<float> values = ToVector<float>(got.Contiguous());
    for (size_t i = 0; i < want.size(); ++i)  // 1e-7 of the norm, and roundings of norm and factor
      EXPECT_NEAR(values[i], want[i], 4e-7 * std::abs(want[i])) << i;
  };
  const Variable index = Index({3, 1, 0, 1, 1}, {5});
  Tensor weight = rows();
  const Variable y = Embedding(index, Variable(weight), {}, 1.0);
  expect(weight, {3 / 5.0, 4 / 5.0, 5 / 13.0, 12 / 13.0, -6, 8, 0.3, 0.4});
  expect(y.data().Narrow(0, 1, 2), {5 / 13.0, 12 / 13.0, 3 / 5.0, 4 / 5.0});
  EXPECT_EQ(ToVector<float>(weight)[4], -6);  // not looked up
  EXPECT_EQ(ToVector<float>(weight)[6], 0.3f);
  weight = rows();
  Embedding(index, Variable(weight), {}, 4.0, 1);
  expect(weight, {12 / 7.0, 16 / 7.0, 20 / 17.0, 48 / 17.0, -6, 8, 0.3, 0.4});
  weight = rows();
  Embedding(index, Variable(weight), {}, 4.0, INFINITY);
  expect(weight, {3, 4, 5 / 3.0, 4, -6, 8, 0.3, 0.4});
  weight = rows();
  const double cubic = std::cbrt(27.0 + 64);
  Embedding(Index({0}, {1}), Variable(weight), {}, 2.0, 3);
  expect(weight, {6 / cubic, 8 / cubic, 5, 12});
  Tensor strided = rows().Transpose(0, 1).Contiguous().Transpose(0, 1);
  Embedding(index, Variable(strided), {}, 1.0);
  expect(strided, {3 / 5.0, 4 / 5.0, 5 / 13.0, 12 / 13.0, -6, 8});
}

TEST(Embedding, ScalingChangesWhatAnEarlierOpNeeds) {
  const Variable weight(Full({3, 2}, 5), true), x(Full({1, 2}, 1), true);
  const Variable before = Linear(x, weight);
  Embedding(Index({1}, {1}), weight, {}, 1.0);
  EXPECT_THROW(Backward({Sum(before)}, {Full({}, 1)}), BadInput);
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

// Without a cast on the way: the gradients, 0.5 and 256 times 2^-10, would not add up in bf16.
TEST(Indexing, LowTypesAreOnlyMoved) {
  const Variable index = Index(std::vector<int64_t>(257, 1), {257});
  Tensor seed = Full({257}, 1 / 1024.0);
  seed.mutable_data<float>()[0] = 0.5f;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const Variable x(Arange(3).To(dtype), true), z(x.data().Clone(), true);
    const Variable selected = IndexSelect(x, 0, index), gathered = Gather(z, 0, index);
    EXPECT_EQ(selected.node()->op(), "index_select");
    EXPECT_EQ(gathered.node()->op(), "gather");
    EXPECT_EQ(gathered.dtype(), dtype);
    Backward({selected, gathered}, {seed.To(dtype), seed.To(dtype)});
    for (const Variable& leaf : {x, z})
      EXPECT_EQ(ToVector<float>(leaf.grad().To(DType::kF32)), (std::vector<float>{0, 0.75f, 0}));
  }
}

TEST(Indexing, NamesItselfWhereAnInputIsUndefined) {
  const Variable x(Zeros({2})), none;
  const auto error = [](const auto& op) { return testing::ErrorOf(op); };
  EXPECT_EQ(error([&] { IndexSelect(none, 0, Index({0}, {1})); }),
            "[index_select] needs defined inputs, got none and i64 (1) on cpu");
  EXPECT_EQ(error([&] { Gather(x, 0, none); }),
            "[gather] needs defined inputs, got f32 (2) on cpu and none");
  EXPECT_EQ(error([&] { TakeAlongDim(none, Index({0}, {1})); }),
            "[take_along_dim] needs defined inputs, got none and i64 (1) on cpu");
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

// Each way to lie among the other dimensions, with an index smaller than the input; in row-major
// order, whatever the team.
TEST(Indexing, GathersGradientAddsInOrder) {
  const int before = TeamSize();
  const Shape shape{31, 45, 62}, picked{29, 44, 60};
  for (int dim = 0; dim < 3; ++dim) {
    Tensor index(picked, DType::kI64), seed(picked, DType::kF32);
    for (int64_t i = 0; i < index.numel(); ++i) {
      index.mutable_data<int64_t>()[i] = i * i % 11;
      seed.mutable_data<float>()[i] = static_cast<float>(i % 101) * 0.1f;
    }
    std::vector<float> want(static_cast<size_t>(Numel(shape)));
    int64_t i = 0;
    for (int64_t a = 0; a < picked[0]; ++a)
      for (int64_t b = 0; b < picked[1]; ++b)
        for (int64_t c = 0; c < picked[2]; ++c, ++i) {
          int64_t at[] = {a, b, c};
          at[dim] = index.data<int64_t>()[i];
          want[static_cast<size_t>((at[0] * shape[1] + at[1]) * shape[2] + at[2])] +=
              seed.data<float>()[i];
        }
    for (const int threads : {1, 3, 8}) {
      SetTeamSize(threads);
      const Variable x(Zeros(shape), true), y = Gather(x, dim, Variable(index));
      // Columns of 2^14 elements are worth a thread; the zeros before them take 2.
      EXPECT_EQ(testing::LargestTeamOf([&] { Backward({y}, {seed}); }), std::min(threads, 4));
      EXPECT_EQ(ToVector<float>(x.grad()), want) << dim << " " << threads;
    }
  }
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
  EXPECT_THROW(Embedding(Index({0}, {1}), x, {}, -1), BadInput);
  EXPECT_THROW(Embedding(Index({0}, {1}), x, {}, 1, 0), BadInput);
  EXPECT_THROW(Embedding(Index({0}, {1}), x, {}, 1, NAN), BadInput);
}

}  // namespace
}  // namespace torus::ops
