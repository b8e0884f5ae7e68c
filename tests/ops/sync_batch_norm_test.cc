// Batch norm that is synchronised over replicas, each a thread, against one over all their rows.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "autograd/recompute.h"
#include "ops/batch_norm/batch_norm.h"
#include "parallel/collectives/communicator.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

using ops::Activation;
using parallel::RunRanks;
using parallel::Transport;

constexpr int64_t kChannels = 5;
constexpr double kEps = 1e-2;

GatherReplicas GatherOver(Transport& replicas) {
  return [&replicas](const Tensor& own) {
    return parallel::Communicator(replicas).AllGather(own, "batch norm");
  };
}

Tensor Normal(const Shape& shape, uint64_t seed, DType dtype) {
  Tensor x(shape, DType::kF64);
  FillNormal(x, 0.5, 1.5, RandomStream({.seed = seed}));
  return x.To(dtype);
}

// Rows of all replicas together, one behind the other.
struct Batch {
  Batch(int64_t rows, DType dtype, Activation a, bool with_residual)
      : x(Normal({rows, kChannels}, 1, dtype)),
        dy(Normal({rows, kChannels}, 2, dtype)),
        weight(Normal({kChannels}, 3, dtype)),
        bias(Normal({kChannels}, 4, dtype)),
        activation(a) {
    if (with_residual) residual = Normal({rows, kChannels}, 5, dtype);
  }
  Batch Rows(int64_t begin, int64_t count) const {
    Batch part = *this;
    for (Tensor* tensor : {&part.x, &part.dy, &part.residual})
      if (tensor->defined()) *tensor = tensor->Narrow(0, begin, count).Clone();
    return part;
  }
  Tensor x, dy, weight, bias, residual;
  Activation activation;
};

struct Results {
  Tensor y, mean, var, dx, dweight, dbias, dresidual;
  int64_t count = 0;
};

Results Train(const Batch& batch, const GatherReplicas& gather, bool recompute = false) {
  const auto leaf = [](const Tensor& t) { return t.defined() ? Variable(t, true) : Variable(); };
  const Variable x = leaf(batch.x), weight = leaf(batch.weight), bias = leaf(batch.bias),
                 residual = leaf(batch.residual);
  ops::BatchNormResult result;
  const RecomputeFn forward = [&](const std::vector<Variable>& in) {
    result = ops::BatchNormTrain(in[0], weight, bias, kEps, batch.activation, residual, gather);
    return std::vector{result.y};
  };
  std::vector<Variable> read{weight, bias};
  if (residual.defined()) read.push_back(residual);
  const Variable y = recompute ? Recompute(forward, {x}, read)[0] : forward({x})[0];
  Backward({y}, {batch.dy});
  return {y.data(),
          result.mean,
          result.var,
          x.grad(),
          weight.grad(),
          bias.grad(),
          residual.defined() ? residual.grad() : Tensor(),
          result.count};
}

// Each replica's, of its own rows.
std::vector<Results> TrainReplicas(const Batch& all, const std::vector<int64_t>& rows,
                                   bool recompute = false) {
  std::vector<Results> results(rows.size());
  RunRanks(static_cast<int>(rows.size()), [&](Transport& t) {
    int64_t begin = 0;
    for (int r = 0; r < t.rank(); ++r) begin += rows[r];
    results[t.rank()] = Train(all.Rows(begin, rows[t.rank()]), GatherOver(t), recompute);
  });
  return results;
}

std::vector<double> Values(const Tensor& tensor) {
  return tensor.defined() ? ToVector<double>(tensor.To(DType::kF64)) : std::vector<double>();
}

void ExpectEqualBits(const Results& a, const Results& b) {
  for (const auto member : {&Results::y, &Results::mean, &Results::var, &Results::dx,
                            &Results::dweight, &Results::dbias, &Results::dresidual})
    EXPECT_EQ(Values(a.*member), Values(b.*member));
  EXPECT_EQ(a.count, b.count);
}

double Largest(const Tensor& tensor) {
  double largest = 0;
  for (const double value : Values(tensor)) largest = std::max(largest, std::abs(value));
  return largest;
}

// The largest values that occur on the way to each result, as for the twins of batch norm.
struct Sizes {
  Sizes(const Batch& batch, const Results& exact) {
    double scale = 0;  // 1 / std
    for (const double var : Values(exact.var)) scale = std::max(scale, 1 / std::sqrt(var + kEps));
    const double normal = 2 * Largest(batch.x) * scale, dy = Largest(batch.dy);
    const double root = std::sqrt(static_cast<double>(exact.count));
    y = normal * Largest(batch.weight) + Largest(batch.bias) + Largest(batch.residual);
    dx = Largest(batch.weight) * scale * dy * (2 + normal * normal);
    dweight = normal * dy * root;
    dbias = dy * root;
  }
  double y, dx, dweight, dbias;
};

// The replicas' rows one behind the other, against those of the whole.
void ExpectRows(const std::vector<Results>& parts, Tensor Results::*member, const Tensor& whole,
                double tolerance, const char* what) {
  const std::vector<double> want = Values(whole);
  std::vector<double> got;
  for (const Results& part : parts)
    for (const double value : Values(part.*member)) got.push_back(value);
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance) << what << " element " << i;
}

// The replicas' sum.
void ExpectSum(const std::vector<Results>& parts, Tensor Results::*member, const Tensor& whole,
               double tolerance, const char* what) {
  const std::vector<double> want = Values(whole);
  std::vector<double> got(want.size());
  for (const Results& part : parts)
    for (size_t i = 0; i < got.size(); ++i) got[i] += Values(part.*member)[i];
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance) << what << " element " << i;
}

// f32 is held against the whole in f64; two results in f64 may both be off.
void ExpectAsOne(const std::vector<int64_t>& rows, DType dtype, Activation activation,
                 bool residual) {
  int64_t all = 0;
  for (const int64_t count : rows) all += count;
  Batch batch(all, dtype, activation, residual);
  const std::vector<Results> parts = TrainReplicas(batch, rows);
  for (Tensor* tensor : {&batch.x, &batch.dy, &batch.weight, &batch.bias, &batch.residual})
    if (tensor->defined()) *tensor = tensor->To(DType::kF64);
  const Results whole = Train(batch, {});
  const Sizes sizes(batch, whole);
  const auto tolerance = [&](double size) {
    return (dtype == DType::kF64 ? 2 : 1) * testing::Tolerance(dtype, all, size);
  };
  ExpectRows(parts, &Results::y, whole.y, tolerance(sizes.y), "y");
  ExpectRows(parts, &Results::dx, whole.dx, tolerance(sizes.dx), "dx");
  ExpectRows(parts, &Results::dresidual, whole.dresidual, 0, "dresidual");
  ExpectSum(parts, &Results::dweight, whole.dweight, tolerance(sizes.dweight), "dweight");
  ExpectSum(parts, &Results::dbias, whole.dbias, tolerance(sizes.dbias), "dbias");
  for (const Results& part : parts) {
    EXPECT_EQ(part.count, all);
    EXPECT_EQ(Values(part.mean), Values(parts[0].mean));
    EXPECT_EQ(Values(part.var), Values(parts[0].var));
    ExpectRows({part}, &Results::mean, whole.mean, tolerance(Largest(batch.x)), "mean");
    ExpectRows({part}, &Results::var, whole.var, tolerance(std::pow(2 * Largest(batch.x), 2)),
               "var");
  }
}

const std::vector<std::vector<int64_t>> kShares{{4, 4}, {7, 3}, {1, 1}, {1, 6, 2}, {300, 5000}};

TEST(SyncBatchNorm, IsThatOfAllReplicasRows) {
  for (const std::vector<int64_t>& rows : kShares) {
    SCOPED_TRACE(fmt::format("{} replicas, the first of {} rows", rows.size(), rows[0]));
    for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kRelu6})
      for (const bool residual : {false, true})
        ExpectAsOne(rows, DType::kF64, activation, residual);
    for (const bool residual : {false, true})
      ExpectAsOne(rows, DType::kF32, Activation::kNone, residual);
  }
}

// What the tolerances above could hide.
TEST(SyncBatchNorm, IsNotThatOfItsOwnRows) {
  const Batch all(8, DType::kF64, Activation::kNone, false);
  const Results own = Train(all.Rows(0, 4), {}), synced = TrainReplicas(all, {4, 4})[0];
  EXPECT_GT(std::abs(Values(own.y)[0] - Values(synced.y)[0]), 1e-3);
  EXPECT_GT(std::abs(Values(own.dx)[0] - Values(synced.dx)[0]), 1e-3);
}

TEST(SyncBatchNorm, OfOneReplicaHasTheBitsOfNone) {
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const bool residual : {false, true}) {
      const Batch batch(9, dtype, Activation::kRelu6, residual);
      ExpectEqualBits(TrainReplicas(batch, {9})[0], Train(batch, {}));
    }
}

TEST(SyncBatchNorm, RecomputedItHasTheSameBits) {
  const Batch batch(9, DType::kF32, Activation::kRelu, true);
  const std::vector<Results> kept = TrainReplicas(batch, {4, 5}),
                             again = TrainReplicas(batch, {4, 5}, /*recompute=*/true);
  for (size_t r = 0; r < kept.size(); ++r) ExpectEqualBits(kept[r], again[r]);
}

// A gather of this replica and one that has the same rows.
struct CountedGather {
  GatherReplicas fn() {
    return [this](const Tensor& own) {
      ++calls;
      return std::vector{own, own};
    };
  }
  int calls = 0;
};

TEST(SyncBatchNorm, TheDeferredHalfOfABackwardAsksNobody) {
  const Batch batch(6, DType::kF32, Activation::kRelu, false);
  const Variable x(batch.x, true), weight(batch.weight, true), bias(batch.bias, true);
  CountedGather gather;
  const Variable y =
      ops::BatchNormTrain(x, weight, bias, kEps, batch.activation, {}, gather.fn()).y;
  EXPECT_EQ(gather.calls, 1);
  BackwardResult result = Backward({y}, {batch.dy}, {.defer_leaves = true, .wanted = {x}});
  EXPECT_TRUE(result.wanted[0].defined());
  EXPECT_EQ(gather.calls, 2);
  result.deferred.Run();
  EXPECT_TRUE(weight.grad().defined());
  EXPECT_EQ(gather.calls, 2);
}

TEST(SyncBatchNorm, DataNeedNoGradientSoTheBackwardAsksNobody) {
  const Batch batch(6, DType::kF32, Activation::kRelu, false);
  const Variable weight(batch.weight, true);
  CountedGather gather;
  const Variable y =
      ops::BatchNormTrain(Variable(batch.x), weight, {}, kEps, batch.activation, {}, gather.fn()).y;
  Backward({y}, {batch.dy});
  EXPECT_EQ(gather.calls, 1);
}

// One row may have others beside it.
TEST(SyncBatchNorm, OnMetaItAsksNobodyAndTakesAnyRows) {
  CountedGather gather;
  const Variable one(Empty({1, kChannels}, DType::kF32, kMetaDevice));
  const auto result = ops::BatchNormTrain(one, {}, {}, kEps, {}, {}, gather.fn());
  EXPECT_EQ(result.y.shape(), one.shape());
  EXPECT_EQ(gather.calls, 0);
  EXPECT_THROW(ops::BatchNormTrain(one, {}, {}, kEps), BadInput);
}

TEST(SyncBatchNorm, OneValueInAllIsTooFew) {
  const GatherReplicas alone = [](const Tensor& own) { return std::vector{own}; };
  EXPECT_THROW(ops::BatchNormTrain(Variable(Zeros({1, 3})), {}, {}, kEps, {}, {}, alone), BadInput);
}

}  // namespace
}  // namespace torus
