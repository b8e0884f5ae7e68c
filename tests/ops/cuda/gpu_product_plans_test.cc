// Products choose among proposals as their thread's plans say. Emulated, the proposals are a
// test's; on a GPU they are cuBLASLt's.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ops/cuda/gemm_of_tensors.h"
#include "ops/cuda/plans.h"
#include "ops/cuda/proposal_stand_in.h"
#include "runtime/gpu_graph.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/rng.h"
#include "runtime/stream.h"
#include "tests/testing/on_gpu.h"

namespace torus::cuda {
namespace {

using torus::testing::kFirstGpu;

Tensor Normal(const Shape& shape, const char* name) {
  Tensor values(shape, DType::kF32);
  FillNormal(values, 0, 1, RandomStream({.layer = HashName(name)}));
  return values.To(kFirstGpu);
}

// c = a b + beta c.
void Multiply(const Tensor& a, const Tensor& b, Tensor& c, float beta = 0) {
  if constexpr (kHasCuda) {
    auto call = GemmCallOf<float, float>(false, a, false, b, c);
    call.beta = beta;
    Gemm(call, kFirstGpu, CurrentStream(kFirstGpu));
  }
}

class GpuProductPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!torus::testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
    a_ = Normal({48, 32}, "a");
    b_ = Normal({32, 64}, "b");
    c_ = Tensor({48, 64}, DType::kF32, kFirstGpu);
  }
  Tensor Product() {
    Multiply(a_, b_, c_);
    return c_.To(Device{});
  }

  Tensor a_, b_, c_;
};

TEST_F(GpuProductPlans, AutotuningGivesTheSameProductsAndKeepsTheChoice) {
  const Tensor want = Product();
  Plans tuned(true);
  std::vector<float> first;
  {
    const WithPlans with(&tuned);
    first = ToVector<float>(Product());
  }
  ASSERT_EQ(tuned.choices().size(), 1u);
  EXPECT_EQ(tuned.counts().made, 1);
  const auto plain = ToVector<float>(want);
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(first[i], plain[i], 1e-4) << i;
  Plans known(false, tuned.choices());
  const WithPlans with(&known);
  EXPECT_EQ(ToVector<float>(Product()), first);
  EXPECT_EQ(known.counts().known, 1);
  EXPECT_EQ(known.counts().timed, 0);
}

TEST_F(GpuProductPlans, TimingAddsNothingToWhatIsSummedInPlace) {
  const auto twice = [&] {
    Tensor sum = Normal({48, 64}, "sum");
    Multiply(a_, b_, sum, 1);
    Multiply(a_, b_, sum, 1);
    return ToVector<float>(sum.To(Device{}));
  };
  const std::vector<float> plain = twice();
  Plans plans(true);
  const WithPlans with(&plans);
  const std::vector<float> tuned = twice();
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(tuned[i], plain[i], 1e-4) << i;
}

// The rest is of a test's proposals.
class EmulatedProductPlans : public GpuProductPlans {
 protected:
  void SetUp() override {
    GpuProductPlans::SetUp();
    if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  }
  // Proposal `quickest_` of three takes least.
  ProposalStandIn StandIn() {
    return ProposalStandIn({.count = 3,
                            .seconds =
                                [this](const std::string&, int64_t i) {
                                  ++timed_;
                                  return i == quickest_ ? 1.0 : 2.0;
                                },
                            .taken = [this](const std::string&, int64_t i) { taken_ = i; }});
  }
  int64_t TakenBy(Plans* plans) {
    const WithPlans with(plans);
    taken_ = -1;
    Product();
    return taken_;
  }

  int64_t quickest_ = 2, timed_ = 0, taken_ = -1;
};

TEST_F(EmulatedProductPlans, TakeTheQuickestOfThreeAndTimeThemOnce) {
  const ProposalStandIn stand_in = StandIn();
  Plans plans(true);
  EXPECT_EQ(TakenBy(&plans), 2);
  EXPECT_EQ(TakenBy(&plans), 2);
  EXPECT_EQ(timed_, 3);
  EXPECT_EQ(plans.counts().made, 1);
  const PlanChoice& choice = plans.choices().begin()->second;
  EXPECT_EQ(choice, (PlanChoice{2, "emulated 2", true}));
}

TEST_F(EmulatedProductPlans, OfSeveralRunsAreNotShared) {
  const ProposalStandIn stand_in = StandIn();
  Plans first(true), second(true), untuned;
  EXPECT_EQ(TakenBy(&first), 2);
  quickest_ = 1;
  EXPECT_EQ(TakenBy(&second), 1);
  EXPECT_EQ(TakenBy(&first), 2);
  EXPECT_EQ(TakenBy(&untuned), 0);
  EXPECT_EQ(TakenBy(&second), 1);
  EXPECT_EQ(timed_, 6);
}

TEST_F(EmulatedProductPlans, AreNotTimedWithoutAutotuning) {
  const ProposalStandIn stand_in = StandIn();
  Plans untuned, known(false, {{"another product", {1, "emulated 1", true}}});
  EXPECT_EQ(TakenBy(&untuned), 0);
  EXPECT_EQ(TakenBy(&known), 0);
  EXPECT_EQ(TakenBy(nullptr), -1) << "nobody chooses";
  EXPECT_EQ(timed_, 0);
}

TEST_F(EmulatedProductPlans, AreNotTimedWhileAGraphIsRecorded) {
  const ProposalStandIn stand_in = StandIn();
  Plans plans(true);
  const WithPlans with(&plans);
  GpuGraph graph(kFirstGpu);
  graph.Record([&] { Multiply(a_, b_, c_); });
  EXPECT_EQ(taken_, 0);
  EXPECT_EQ(timed_, 0);
  EXPECT_EQ(TakenBy(&plans), 0) << "what is recorded stays chosen";
  EXPECT_EQ(timed_, 0);
}

TEST_F(EmulatedProductPlans, AreCountedWhereTheyAreSlow) {
  Plans plans;
  const WithPlans with(&plans);
  const Tensor a = a_.To(DType::kBF16), narrow = Normal({32, 3}, "narrow").To(DType::kBF16);
  Tensor out({48, 3}, DType::kBF16, kFirstGpu);
  if constexpr (kHasCuda)
    Gemm(GemmCallOf<BFloat16, BFloat16>(false, a, false, narrow, out), kFirstGpu,
         CurrentStream(kFirstGpu));
  EXPECT_EQ(plans.counts().fallbacks,
            (std::map<std::string, int64_t>{{"product bf16 48 x 32 x 3, not aligned", 1}}));
}

}  // namespace
}  // namespace torus::cuda
