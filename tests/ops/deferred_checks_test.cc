// Indices and class numbers that a GPU checks without being waited for. Needs a build with
// --config=emulated_gpu, or --config=cuda and a GPU.
#include "runtime/deferred_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ops/indexing/indexing.h"
#include "ops/loss/cross_entropy.h"
#include "runtime/error.h"
#include "runtime/gpu_graph.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

using ::testing::HasSubstr;
using testing::kFirstGpu;

class CheckedLater : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

Tensor There(const std::vector<int64_t>& values) {
  return FromVector(values, {std::ssize(values)}).To(kFirstGpu);
}

Tensor Table(int64_t rows) {
  return OddShapes(rows).Normal({rows, 5}).To(DType::kF32).To(kFirstGpu);
}

Tensor Embedded(const Tensor& table, const std::vector<int64_t>& ids) {
  return Embedding(Variable(There(ids)), Variable(table)).data();
}

Tensor LossOf(const Tensor& logits, const std::vector<int64_t>& targets) {
  return CrossEntropy(Variable(logits), Variable(There(targets))).data();
}

std::string MessageOf(DeferredChecks& checks) {
  try {
    checks.Report();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST_F(CheckedLater, WhatIsRightGoesThroughAsEver) {
  const Tensor table = Table(9);
  const std::vector<int64_t> ids = {8, 0, 3, 3}, targets = {4, -100, 0, 2};
  DeferredChecks checks(kFirstGpu);
  const DeferredChecks::Scope scope(checks);
  const Tensor rows = Embedded(table, ids), loss = LossOf(rows, targets);
  EXPECT_EQ(checks.expected().size(), 2u);
  EXPECT_EQ(MessageOf(checks), "");
  EXPECT_TRUE(checks.expected().empty());
  const Tensor row = table.Narrow(0, 3, 1).Contiguous();
  EXPECT_EQ(ToVector<float>(rows.Narrow(0, 2, 1)), ToVector<float>(row));
}

TEST_F(CheckedLater, TheFirstWrongIndexIsNamedAtTheReport) {
  const Tensor table = Table(9);
  DeferredChecks checks(kFirstGpu);
  const DeferredChecks::Scope scope(checks);
  const Tensor rows = Embedded(table, {1, 9, -1, 2});
  LossOf(rows, {0, 0, 0, 77});
  const std::string message = MessageOf(checks);
  EXPECT_NE(message.find("[embedding] index 9 at position 1 is outside of [0, 9)"),
            std::string::npos)
      << message;
  // In its place there was row 0; and what comes next is checked from new.
  EXPECT_EQ(ToVector<float>(rows.Narrow(0, 1, 1)),
            ToVector<float>(table.Narrow(0, 0, 1).Contiguous()));
  Embedded(table, {1});
  EXPECT_EQ(MessageOf(checks), "");
}

TEST_F(CheckedLater, AWrongClassIsNamedAndCountsForNothing) {
  const Tensor logits = Table(4);
  DeferredChecks checks(kFirstGpu);
  Tensor loss;
  {
    const DeferredChecks::Scope scope(checks);
    loss = LossOf(logits, {1, 5, 2, 0});
  }
  const std::string message = MessageOf(checks);
  EXPECT_NE(message.find("target 5 at position 1 is neither one of 5 classes nor ignored (-100)"),
            std::string::npos)
      << message;
  EXPECT_EQ(loss.Item(), LossOf(logits, {1, -100, 2, 0}).Item());
}

constexpr int kMany = 2500;  // more than a block of them

TEST_F(CheckedLater, AStepMayHaveThousands) {
  const Tensor table = Table(3);
  for (const int wrong : {0, 1023, 1024, kMany - 1}) {
    DeferredChecks checks(kFirstGpu);
    const DeferredChecks::Scope scope(checks);
    for (int i = 0; i < kMany; ++i) Embedded(table, {1, i == wrong ? 3 + wrong : 2});
    EXPECT_EQ(checks.expected().size(), size_t{kMany});
    EXPECT_THAT(MessageOf(checks), HasSubstr(fmt::format("index {} at position 1", 3 + wrong)));
    for (int i = 0; i < kMany; ++i) Embedded(table, {1});
    EXPECT_EQ(MessageOf(checks), "");
  }
}

TEST_F(CheckedLater, ARecordedStepMayHaveAsManyAsTheOneBefore) {
  const Variable table(Table(3));
  Tensor ids = There({1});
  DeferredChecks checks(kFirstGpu);
  const DeferredChecks::Scope scope(checks);
  const auto step = [&] {
    for (int i = 0; i < kMany; ++i) Embedding(Variable(ids), table);
  };
  {
    GpuGraph graph(kFirstGpu);
    EXPECT_THROW(graph.Record(step), BadInput);
    checks.Clear();
  }
  step();
  EXPECT_EQ(MessageOf(checks), "");
  GpuGraph graph(kFirstGpu);
  graph.Record(step);
  const std::vector<DeferredChecks::Check> recorded = checks.expected();
  graph.Launch(0);
  EXPECT_EQ(MessageOf(checks), "");
  Copy(There({7}), ids);
  graph.Launch(1);
  checks.SetExpected(recorded);
  EXPECT_THAT(MessageOf(checks), HasSubstr("index 7 at position 0"));
}

TEST_F(CheckedLater, WhatIsClearedIsNotReported) {
  const Tensor table = Table(3);
  DeferredChecks checks(kFirstGpu);
  const DeferredChecks::Scope scope(checks);
  Embedded(table, {3});
  checks.Clear();
  Embedded(table, {2});
  EXPECT_EQ(MessageOf(checks), "");
}

TEST_F(CheckedLater, WithoutAScopeItIsToldAtOnce) {
  DeferredChecks checks(kFirstGpu);
  EXPECT_THROW(Embedded(Table(3), {3}), BadInput);
  EXPECT_THROW(LossOf(Table(1), {5}), BadInput);
  EXPECT_TRUE(checks.expected().empty());
}

// Emulated work runs when it is waited for.
TEST_F(CheckedLater, NothingWaitsBeforeTheReport) {
  if (!kEmulatedGpu) GTEST_SKIP() << "what waits shows on emulated GPUs alone";
  const Tensor table = Table(9), ids = There({1, 2}), targets = There({0, 4});
  DeferredChecks checks(kFirstGpu);
  const DeferredChecks::Scope scope(checks);
  Tensor work = Zeros({1}, DType::kF32, kFirstGpu);
  Event begun(kFirstGpu);
  begun.Record(CurrentStream(kFirstGpu));
  CrossEntropy(Embedding(Variable(ids), Variable(table)), Variable(targets));
  EXPECT_FALSE(begun.IsDone());
}

TEST(DeferredChecks, AreAGpus) { EXPECT_THROW(DeferredChecks(Device{}), BadInput); }

}  // namespace
}  // namespace torus::ops
