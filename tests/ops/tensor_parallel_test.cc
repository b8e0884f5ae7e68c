// What tensor-parallel ranks, each a thread, compute together, against one rank that has all.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "autograd/backward.h"
#include "ops/attention/attention.h"
#include "ops/indexing/indexing.h"
#include "ops/loss/cross_entropy.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "ops/tensor_parallel/vocabulary.h"
#include "parallel/collectives/communicator.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

using parallel::Communicator;
using parallel::Transport;

constexpr int kMostRanks = 4;

TensorRanks RanksOver(Transport& transport) {
  return {{transport.rank(), transport.size()},
          [&](const Tensor& own) { return Communicator(transport).AllReduce(own, "sum"); },
          [&](const Tensor& own) { return Communicator(transport).AllGather(own, "gather"); }};
}

// Runs fn(ranks) on 2 to kMostRanks ranks.
template <class Fn>
void OnRanks(const Fn& fn) {
  for (int size = 2; size <= kMostRanks; ++size)
    parallel::RunRanks(size, [&](Transport& transport) { fn(RanksOver(transport)); });
}

Tensor Normal(const Shape& shape, uint64_t seed, DType dtype, double scale = 1) {
  Tensor x(shape, DType::kF64);
  FillNormal(x, 0, scale, RandomStream({.seed = seed}));
  return x.To(dtype);
}

std::vector<double> Values(const Tensor& tensor) {
  return ToVector<double>(tensor.To(DType::kF64).Contiguous());
}

void ExpectNear(const Tensor& got, const Tensor& want, double tolerance) {
  const std::vector<double> a = Values(got), b = Values(want);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

// Whole numbers, so that sums are exact.
TEST(TensorParallel, TheTwoOperatorsAreEachOthersGradient) {
  OnRanks([](const TensorRanks& ranks) {
    const double mine = ranks.rank + 1, all = ranks.size * (ranks.size + 1) / 2.0;
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
      const Variable x(Full({3, 2}, mine, dtype), true), y(Full({3, 2}, 7, dtype), true);
      const Variable sum = ops::SumOverRanks(x, ranks), copy = ops::CopyToRanks(y, ranks);
      EXPECT_EQ(Values(sum.data()), std::vector<double>(6, all));
      EXPECT_EQ(Values(copy.data()), std::vector<double>(6, 7));
      EXPECT_EQ(Values(x.data()), std::vector<double>(6, mine));  // as it was
      Backward({sum, copy}, {Full({3, 2}, 5, dtype), Full({3, 2}, mine, dtype)});
      EXPECT_EQ(Values(x.grad()), std::vector<double>(6, 5));
      EXPECT_EQ(Values(y.grad()), std::vector<double>(6, all));
    }
  });
}

TEST(TensorParallel, OneRankComputesAsBefore) {
  const Variable x(Zeros({2}), true);
  EXPECT_EQ(ops::CopyToRanks(x, {}).id(), x.id());
  EXPECT_EQ(ops::SumOverRanks(x, {}).id(), x.id());
}

TEST(TensorParallel, OnMetaNobodyIsWaitedFor) {
  const TensorRanks ranks{{1, 3}, nullptr, nullptr};
  const Variable x(Empty({1000000, 1000000}, DType::kF32, kMetaDevice));
  EXPECT_EQ(ops::SumOverRanks(ops::CopyToRanks(x, ranks), ranks).shape(), x.shape());
}

// A row is on one rank alone, and the sum of it and zeros is itself: equal bits.
TEST(TensorParallel, AnEmbeddingOfPartsHasTheBitsOfAWholeOne) {
  constexpr int64_t kRows = 29, kWidth = 5;
  const Tensor table = Normal({kRows, kWidth}, 1, DType::kF32),
               dy = Normal({4, 6, kWidth}, 2, DType::kF32);
  Tensor ids({4, 6}, DType::kI64);
  for (int64_t i = 0; i < ids.numel(); ++i)
    ids.mutable_data<int64_t>()[i] = (7 * i + i * i) % kRows;
  const Variable whole(table, true);
  const Variable y = ops::Embedding(Variable(ids), whole, 1);
  Backward({y}, {dy});
  OnRanks([&](const TensorRanks& ranks) {
    const IndexRange part = PartOf(kRows, ranks);
    const Variable weight(SliceOf(table, {}, ranks), true);
    const Variable of_parts =
        ops::EmbeddingOfPart(Variable(ids), weight, {part.begin, kRows}, 1, ranks);
    EXPECT_EQ(Values(of_parts.data()), Values(y.data()));
    Backward({of_parts}, {dy});
    EXPECT_EQ(Values(weight.grad()), Values(SliceOf(whole.grad(), {}, ranks)));
  });
}

TEST(TensorParallel, AnEmbeddingOfPartsRefusesWhatIsInNoPart) {
  OnRanks([](const TensorRanks& ranks) {
    const Variable weight(Zeros({PartOf(9, ranks).size(), 2}));
    const Variable ids(FromVector<int64_t>({0, 9}, {2}));
    const ops::ClassPart part{PartOf(9, ranks).begin, 9};
    EXPECT_THROW(ops::EmbeddingOfPart(ids, weight, part, {}, ranks), BadInput);
  });
}

struct Logits {
  Tensor values, targets;
};

// Every third target is ignored; `scale` of 100 makes one exponential outweigh all others.
Logits MakeLogits(int64_t rows, int64_t classes, DType dtype, double scale) {
  Logits logits{Normal({rows, classes}, 3, dtype, scale), Tensor({rows}, DType::kI64)};
  for (int64_t r = 0; r < rows; ++r)
    logits.targets.mutable_data<int64_t>()[r] = r % 3 == 2 ? -100 : (11 * r + 5) % classes;
  return logits;
}

TEST(TensorParallel, ACrossEntropyOfPartsIsThatOfAllLogits) {
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const int64_t classes : {4, 29, 1001})
      for (const double scale : {1.0, 100.0}) {
        const Logits logits = MakeLogits(13, classes, dtype, scale);
        const Variable x(logits.values, true);
        const Variable loss = ops::CrossEntropy(x, Variable(logits.targets));
        Backward({loss});
        // Logits of up to about 5 scale; of the gradient, at most 1 a row.
        const double tolerance = testing::Tolerance(dtype, classes, 5 * scale);
        OnRanks([&](const TensorRanks& ranks) {
          const TensorSplit columns{1, 1};
          const Variable part(SliceOf(logits.values, columns, ranks), true);
          const Variable of_parts = ops::CrossEntropyOfPart(
              part, Variable(logits.targets), {PartOf(classes, ranks).begin, classes}, ranks);
          ExpectNear(of_parts.data(), loss.data(), tolerance);
          Backward({of_parts});
          ExpectNear(part.grad(), SliceOf(x.grad(), columns, ranks), tolerance);
        });
      }
}

TEST(TensorParallel, ACrossEntropyOfPartsHasTheSameBitsOnAllRanks) {
  const Logits logits = MakeLogits(8, 29, DType::kF32, 3);
  OnRanks([&](const TensorRanks& ranks) {
    const Variable part(SliceOf(logits.values, {1, 1}, ranks));
    const Variable loss = ops::CrossEntropyOfPart(part, Variable(logits.targets),
                                                  {PartOf(29, ranks).begin, 29}, ranks);
    for (const Tensor& other : ranks.gather(loss.data()))
      EXPECT_EQ(Values(other), Values(loss.data()));
  });
}

// Without rows that count the mean is 0 / 0, as of one rank.
TEST(TensorParallel, ACrossEntropyOfNothingIsNan) {
  OnRanks([&](const TensorRanks& ranks) {
    const Variable part(Zeros({2, 3}));
    const Variable targets(FromVector<int64_t>({-100, -100}, {2}));
    const ops::ClassPart of_all{3 * ranks.rank, 3 * ranks.size};
    const Variable loss = ops::CrossEntropyOfPart(part, targets, of_all, ranks);
    EXPECT_TRUE(std::isnan(loss.data().Item()));
  });
}

TEST(TensorParallel, ACrossEntropyOfPartsRefusesWhatIsNoClass) {
  OnRanks([&](const TensorRanks& ranks) {
    const Variable part(Zeros({1, 3})), target(FromVector<int64_t>({3 * ranks.size}, {1}));
    const ops::ClassPart of_all{3 * ranks.rank, 3 * ranks.size};
    EXPECT_THROW(ops::CrossEntropyOfPart(part, target, of_all, ranks), BadInput);
  });
}

// The weights that are dropped are those of the heads, whoever has them. An added mask that needs
// a gradient takes the composed way.
TEST(TensorParallel, HeadsDropTheSameWeightsOnAnyRank) {
  constexpr int64_t kHeads = 6, kRows = 5, kKeys = 7, kWidth = 4;
  const StepContext context{.seed = 3, .step = 2, .samples = {4, 9}};
  const auto attend = [&](const std::vector<Tensor>& qkv, int64_t first, bool composed) {
    ops::AttentionOptions options{.dropout_p = 0.4, .context = &context, .layer = 8};
    options.first_head = first;
    if (composed) options.attn_mask = Variable(Zeros({kRows, kKeys}, qkv[0].dtype()), true);
    return ops::ScaledDotProductAttention(Variable(qkv[0]), Variable(qkv[1]), Variable(qkv[2]),
                                          options)
        .data();
  };
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const bool composed : {false, true}) {
      const std::vector<Tensor> all{Normal({2, kHeads, kRows, kWidth}, 1, dtype),
                                    Normal({2, kHeads, kKeys, kWidth}, 2, dtype),
                                    Normal({2, kHeads, kKeys, kWidth}, 3, dtype)};
      const Tensor whole = attend(all, 0, composed);
      for (int64_t first = 0; first < kHeads; first += 2) {
        std::vector<Tensor> two;
        for (const Tensor& t : all) two.push_back(t.Narrow(1, first, 2).Clone());
        ExpectNear(attend(two, first, composed), whole.Narrow(1, first, 2),
                   testing::Tolerance(dtype, kKeys, 5));
      }
    }
}

}  // namespace
}  // namespace torus
