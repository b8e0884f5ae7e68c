// What a text model asks of a GPU beside its products, held against the CPU's bits: tokens, picking
// by index, dropout, and random fills. Needs a build with --config=emulated_gpu, or --config=cuda
// and a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "autograd/backward.h"
#include "ops/dropout/dropout.h"
#include "ops/indexing/indexing.h"
#include "ops/tokens/tokens.h"
#include "runtime/error.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;

class GpuTokens : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

void ExpectSame(const Tensor& there, const Tensor& here) {
  EXPECT_EQ(there.device(), kFirstGpu);
  EXPECT_EQ(there.shape(), here.shape());
  EXPECT_EQ(ToVector<double>(there.To(DType::kF64)), ToVector<double>(here.To(DType::kF64)));
}

// Widths of part of a warp, a warp, and several pieces of a block.
TEST_F(GpuTokens, PositionsAndMasks) {
  for (int64_t width : {1, 31, 33, 256, 257, 700}) {
    OddShapes shapes(width);
    const Tensor ids = shapes.Indices({3, width}, 4);
    ExpectSame(PositionsBehindPadding(ids.To(kFirstGpu), 1), PositionsBehindPadding(ids, 1));
    ExpectSame(PositionsInDocuments(ids.To(kFirstGpu)), PositionsInDocuments(ids));
    const Tensor few = ids.Narrow(1, 0, std::min<int64_t>(width, 40)).Contiguous();
    ExpectSame(CausalMask(few.To(kFirstGpu)), CausalMask(few));
    ExpectSame(CausalMask(1, width, kFirstGpu), CausalMask(1, width));
  }
}

// Rows that are picked again and again add in the order of the index, as on the CPU: same bits.
TEST_F(GpuTokens, EmbeddingAddsInTheOrderOfTheTokens) {
  for (int64_t count : {1, 2, 3, 64, 1000, 2048, 2049, 5001}) {
    OddShapes shapes(count);
    const Tensor ids = shapes.Indices({count}, 7), weight = shapes.Normal({9, 5});
    const Tensor seed = shapes.Normal({count, 5});
    const Variable here(weight, true), there(weight.To(kFirstGpu), true);
    const Variable y = Embedding(Variable(ids), here, -9 + 2);
    const Variable z = Embedding(Variable(ids.To(kFirstGpu)), there, -9 + 2);
    ExpectSame(z.data(), y.data());
    Backward({y}, {seed});
    Backward({z}, {seed.To(kFirstGpu)});
    ExpectSame(there.grad(), here.grad());
  }
}

// A norm adds in another order than on the CPU: as many roundings as a row is wide, halved by its
// root, and three more.
TEST_F(GpuTokens, EmbeddingScalesRowsAndGradientsAsOnTheCpu) {
  for (int64_t width : {1, 31, 700}) {
    for (const double p : {1.0, 2.0, 3.0, double{INFINITY}}) {
      OddShapes shapes(width);
      const Tensor ids = shapes.Indices({60}, 7), weight = shapes.Normal({9, width});
      const Tensor seed = shapes.Normal({60, width});
      const Variable here(weight.Clone(), true), there(weight.To(kFirstGpu), true);
      const Variable y = Embedding(Variable(ids), here, {}, 0.5, p, true);
      const Variable z = Embedding(Variable(ids.To(kFirstGpu)), there, {}, 0.5, p, true);
      const std::vector<float> want = ToVector<float>(here.data());
      const std::vector<float> got = ToVector<float>(there.data().To(Device{}));
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(got[i], want[i],
                    std::ldexp(static_cast<double>(width) + 4, -24) * std::abs(double{want[i]}));
      Backward({y}, {seed});
      Backward({z}, {seed.To(kFirstGpu)});
      ExpectSame(there.grad(), here.grad());
    }
  }
}

TEST_F(GpuTokens, GatherPicksAndAddsAlongAnyDimension) {
  OddShapes shapes(5);
  const Tensor x = shapes.Normal({4, 5, 6});
  for (int dim = 0; dim < 3; ++dim) {
    Shape shape{3, 4, 5};
    shape[dim] = 11;
    const Tensor index = shapes.Indices(shape, x.dim(dim)), seed = shapes.Normal(shape);
    const Variable here(x, true), there(x.To(kFirstGpu), true);
    const Variable y = Gather(here, dim, Variable(index));
    const Variable z = Gather(there, dim, Variable(index.To(kFirstGpu)));
    ExpectSame(z.data(), y.data());
    Backward({y}, {seed});
    Backward({z}, {seed.To(kFirstGpu)});
    ExpectSame(there.grad(), here.grad());
  }
}

// The first value that is wrong, by its place, whichever part of the index holds it.
TEST_F(GpuTokens, AnIndexOutsideIsNamedAsOnTheCpu) {
  const Variable weight(Zeros({3, 2})), there(weight.data().To(kFirstGpu));
  for (int64_t wrong : {0, 77, 4095, 4096, 9001}) {
    Tensor ids = Zeros({10000}, DType::kI64);
    int64_t* const p = ids.mutable_data<int64_t>();
    p[wrong] = wrong % 2 == 0 ? -1 : 3;
    p[9999] = 8;
    const std::string message = testing::ErrorOf([&] { Embedding(Variable(ids), weight); });
    EXPECT_NE(message, "");
    EXPECT_EQ(testing::ErrorOf([&] { Embedding(Variable(ids.To(kFirstGpu)), there); }), message);
  }
}

// More samples than one launch hands over, and lengths that are no whole number of blocks.
TEST_F(GpuTokens, DropoutKeepsWhatTheCpuKeeps) {
  for (int64_t samples : {1, 128, 129, 300}) {
    StepContext context{.seed = 3, .step = 5, .samples = std::vector<int64_t>(samples)};
    std::iota(context.samples.begin(), context.samples.end(), 11);
    for (int64_t width : {1, 4, 7}) {
      const Tensor x = OddShapes(samples).Normal({samples, width});
      ExpectSame(Dropout(Variable(x.To(kFirstGpu)), 0.3, context, 2).data(),
                 Dropout(Variable(x), 0.3, context, 2).data());
    }
  }
}

TEST_F(GpuTokens, RandomFillsHaveTheCpusBits) {
  const RandomStream stream({.seed = 9});
  for (DType dtype : {DType::kF32, DType::kF64}) {
    Tensor here({5, 7}, dtype), there({5, 7}, dtype, kFirstGpu);
    FillUniform(here, -1, 2, stream);
    FillUniform(there, -1, 2, stream);
    ExpectSame(there, here);
    FillNormal(here, 1, 3, stream);
    FillNormal(there, 1, 3, stream);
    ExpectSame(there, here);
  }
}

}  // namespace
}  // namespace torus::ops
