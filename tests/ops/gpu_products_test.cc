// GEMM on a GPU by itself, and the walks of batches over it. Needs a build with
// --config=emulated_gpu, or --config=cuda and a GPU.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/cuda/gemm.h"
#include "ops/matmul/kernels.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/product.h"
#include "runtime/cuda/elements.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;

class GpuProducts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

void ExpectNear(const Tensor& got, const Tensor& expected, double tolerance) {
  ASSERT_EQ(got.shape(), expected.shape());
  const auto a = ToVector<double>(got.To(DType::kF64)), b = ToVector<double>(expected);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

// Matrices of every form that a call may have, within larger ones.
struct Case {
  bool transpose_a, transpose_b, bias;
  int64_t m, n, k, batch;
  double alpha, beta;
};

// (batch, rows, columns + 3), of which the first `columns` take part.
template <class T>
Tensor Stored(bool transposed, int64_t batch, int64_t rows, int64_t columns, uint64_t seed) {
  if (transposed) std::swap(rows, columns);
  return RandomLeaf({batch, rows, columns + 3}, seed).data().To(kDTypeOf<T>);
}

double At(const Tensor& t, bool transposed, int64_t b, int64_t row, int64_t column) {
  if (transposed) std::swap(row, column);
  return ToVector<double>(
      t.Narrow(0, b, 1).Narrow(1, row, 1).Narrow(2, column, 1).To(DType::kF64))[0];
}

Tensor Expected(const Case& c, const Tensor& a, const Tensor& b, const Tensor& bias,
                const Tensor& before) {
  Tensor out({c.batch, c.m, c.n}, DType::kF64);
  double* p = out.mutable_data<double>();
  for (int64_t i = 0; i < c.batch; ++i) {
    for (int64_t row = 0; row < c.m; ++row) {
      for (int64_t column = 0; column < c.n; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < c.k; ++k)
          sum += At(a, c.transpose_a, i, row, k) * At(b, c.transpose_b, 0, k, column);
        const double old = c.beta == 0 ? 0 : At(before, false, i, row, column);
        const double added = c.bias ? ToVector<double>(bias.To(DType::kF64))[column] : 0;
        *p++ = c.alpha * sum + c.beta * old + added;
      }
    }
  }
  return out;
}

// One rounding of a value of 16 bits.
template <class T>
constexpr double kRounding = 0;
template <>
constexpr double kRounding<BFloat16> = 0x1p-8;
template <>
constexpr double kRounding<Float16> = 0x1p-11;

template <class In, class T = In>
void CheckGemm(const Case& c) {
  const Tensor a = Stored<In>(c.transpose_a, c.batch, c.m, c.k, 1);
  const Tensor b = Stored<In>(c.transpose_b, 1, c.k, c.n, 2);
  const Tensor bias = RandomLeaf({c.n}, 3).data().To(kDTypeOf<T>);
  // With beta 0 it is not read.
  const Tensor before = c.beta == 0 ? Full({c.batch, c.m, c.n + 3},
                                           std::numeric_limits<double>::quiet_NaN(), kDTypeOf<T>)
                                    : Stored<T>(false, c.batch, c.m, c.n, 4);
  const Tensor on_a = a.To(kFirstGpu), on_b = b.To(kFirstGpu), on_bias = bias.To(kFirstGpu);
  Tensor out = before.To(kFirstGpu);
#if TORUS_GPUS
  cuda::GemmCall<In, T> call{
      c.m,
      c.n,
      c.k,
      {cuda::Elements<In>(on_a), a.dim(2), c.transpose_a, a.dim(1) * a.dim(2)},
      {cuda::Elements<In>(on_b), b.dim(2), c.transpose_b},
      {cuda::MutableElements<T>(out), c.n + 3, false, c.m * (c.n + 3)}};
  call.alpha = static_cast<SumOf<In>>(c.alpha);
  call.beta = static_cast<SumOf<In>>(c.beta);
  call.batch = c.batch;
  if (c.bias) call.bias = cuda::Elements<T>(on_bias);
  cuda::Gemm(call, kFirstGpu, CurrentStream(kFirstGpu));
#endif
  const Tensor here = out.To(Device{});
  // Sums stay below 20.
  ExpectNear(here.Narrow(2, 0, c.n).Contiguous(), Expected(c, a, b, bias, before),
             testing::Tolerance(kDTypeOf<SumOf<In>>, c.k, 20) + 20 * kRounding<T>);
  // What lies beside the matrix stays.
  const auto beside = [&](const Tensor& t) {
    return ToVector<double>(t.Narrow(2, c.n, 3).To(DType::kF64).Contiguous());
  };
  const std::vector<double> left = beside(here), kept = beside(before);
  for (size_t i = 0; i < left.size(); ++i)
    EXPECT_TRUE(left[i] == kept[i] || (left[i] != left[i] && kept[i] != kept[i])) << i;
}

TEST_F(GpuProducts, EveryFormOfGemm) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      for (const Case& c :
           {Case{left, right, false, 5, 19, 3, 1, 1, 0}, Case{left, right, true, 4, 9, 7, 3, 1, 0},
            Case{left, right, true, 1, 8, 17, 2, -0.5, 2},
            Case{left, right, true, 3, 2, 0, 2, 1, 0.5},
            Case{left, right, false, 2, 1, 4, 1, 2, 1}}) {
        CheckGemm<float>(c);
        CheckGemm<double>(c);
        CheckGemm<BFloat16>(c);
        CheckGemm<BFloat16, float>(c);
        CheckGemm<Float16>(c);
        CheckGemm<Float16, float>(c);
      }
    }
  }
}

// Batches that no single stride walks, broadcast and transposed, of both operands.
TEST_F(GpuProducts, WalksOverBatches) {
  const Tensor a = RandomLeaf({3, 1, 2, 4, 5}).data(), b = RandomLeaf({1, 4, 2, 6, 5}, 1).data();
  const Tensor left = a.Transpose(0, 2), right = b.Transpose(0, 2).Transpose(-1, -2);
  const Tensor there = MatrixProduct(left.To(kFirstGpu), right.To(kFirstGpu));
  const Tensor on_a = a.To(kFirstGpu), on_b = b.To(kFirstGpu);
  const Tensor views = MatrixProduct(on_a.Transpose(0, 2), on_b.Transpose(0, 2).Transpose(-1, -2));
  const double tolerance = testing::Tolerance(DType::kF64, 5, 20);
  ExpectNear(there.To(Device{}), MatrixProduct(left, right), tolerance);
  ExpectNear(views.To(Device{}), MatrixProduct(left, right), tolerance);
}

// Of 24 bits of an input, products in TF32 read 11, also in the backward of an op that ran so.
TEST_F(GpuProducts, OfTf32ReadElevenBits) {
  const Variable x(Full({1, 1}, 1 + 0x1p-20, DType::kF32).To(kFirstGpu), true);
  const Variable w(Full({1, 1}, 1 + 0x1p-19, DType::kF32).To(kFirstGpu), true);
  const auto run = [&](Precision precision) {
    const Variable y = [&] {
      const WithPrecision with(precision);
      return Linear(x, w);
    }();
    Variable(x).ZeroGrad();
    Backward({y}, {Full({1, 1}, 1, DType::kF32).To(kFirstGpu)});
    return std::array{y.data().Item(), x.grad().Item()};
  };
  const auto full = run(DType::kF32), low = run({DType::kF32, MatmulMode::kTf32});
  EXPECT_EQ(full[0], 1 + 0x1p-19 + 0x1p-20);
  EXPECT_EQ(full[1], 1 + 0x1p-19);
  EXPECT_NEAR(low[0], 1, 0x1p-10);
  EXPECT_NEAR(low[1], 1, 0x1p-10);
#if TORUS_GPUS == 2  // a real one may use them for such small matrices, and need not
  EXPECT_EQ(low[0], 1);
  EXPECT_EQ(low[1], 1);
#endif
}

// More rows than one thread adds. Both sum whole numbers: to the same bits.
TEST_F(GpuProducts, SumsRowsOfBf16) {
  const int64_t rows = 300, n = 7;
  Tensor x({rows, n}, DType::kF32);
  for (int64_t i = 0; i < rows * n; ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 100);
  const Tensor low = x.To(DType::kBF16);
  Tensor here({n}, DType::kF32), there({n}, DType::kF32, kFirstGpu);
  kernels::SumOfLowRows(low, here);
  kernels::SumOfLowRows(low.To(kFirstGpu), there);
  EXPECT_EQ(ToVector<float>(there.To(Device{})), ToVector<float>(here));
}

TEST_F(GpuProducts, RefusesWholeNumbers) {
  const Tensor a = Zeros({2, 2}, DType::kI32, kFirstGpu);
  EXPECT_THROW(MatrixProduct(a, a), BadInput);
}

}  // namespace
}  // namespace torus::ops
