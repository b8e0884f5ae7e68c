// What a GPU does in the call of a product besides: GELU, its derivative, sums over the terms.
// Emulated, a plain kernel does it in cuBLASLt's place. Needs a build with --config=emulated_gpu,
// or --config=cuda and a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "ops/cuda/gemm_of_tensors.h"
#include "runtime/cuda/elements.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

using cuda::EpilogueKind;
using testing::kFirstGpu;

class GpuEpilogues : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

#if TORUS_GPUS == 2
constexpr bool kAlwaysTaken = true;
#else
constexpr bool kAlwaysTaken = false;  // cuBLASLt chooses
#endif

// What cuBLASLt must take: GELU and its gradient where all sizes are multiples of 8, as in every
// GPT-2. A wrong attribute would pass for a lack of algorithms.
bool MustBeTaken(EpilogueKind kind, int64_t m, int64_t n, int64_t k) {
  const bool gelu = kind == EpilogueKind::kGelu || kind == EpilogueKind::kGeluGradient;
  return kAlwaysTaken || (gelu && m % 8 == 0 && n % 8 == 0 && k % 8 == 0);
}

template <class In, class Out>
bool Takes(const cuda::GemmCall<In, Out>& call, const cuda::GemmEpilogue<Out>& epilogue) {
  if constexpr (kHasCuda)
    return cuda::GemmWithEpilogue(call, epilogue, kFirstGpu, CurrentStream(kFirstGpu));
  else
    return false;
}

// Says so where cuBLASLt has no such epilogue, and kernels of ours serve.
template <class In, class Out>
bool IsTaken(const cuda::GemmCall<In, Out>& call, const cuda::GemmEpilogue<Out>& epilogue,
             const char* what) {
  const bool taken = Takes(call, epilogue);
  EXPECT_TRUE(taken || !MustBeTaken(epilogue.kind, call.m, call.n, call.k)) << what;
  if (!taken) std::cout << "cuBLASLt has no way: " << what << std::endl;
  return taken;
}

std::vector<double> Doubles(const Tensor& t) {
  return ToVector<double>(t.To(Device{}).To(DType::kF64).Contiguous());
}

Tensor Random(const Shape& shape, DType dtype, uint64_t seed) {
  return RandomLeaf(shape, seed).data().To(dtype).To(kFirstGpu);
}

// op(A) op(B) in f64; (m, n).
std::vector<double> Product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const int64_t m = a.dim(transpose_a ? 1 : 0), k = a.dim(transpose_a ? 0 : 1);
  const int64_t n = b.dim(transpose_b ? 0 : 1);
  const std::vector<double> x = Doubles(a), y = Doubles(b);
  std::vector<double> out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        out[i * n + j] +=
            x[transpose_a ? p * m + i : i * k + p] * y[transpose_b ? j * k + p : p * n + j];
  return out;
}

double Inner(double z) { return std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z); }
double Gelu(double z) { return 0.5 * z * (1 + std::tanh(Inner(z))); }
double GeluSlope(double z) {
  const double t = std::tanh(Inner(z));
  return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * z * z);
}

// f32 sums of k terms, each sum below 30; a GPU's quick tanh is wrong by 2^-11 of at most 1.
double ErrorOf(int64_t k, double factor) {
  return std::max(1.0, factor) * testing::Tolerance(DType::kF32, k, 30) + 0.5 * factor * 0x1p-11;
}

// And one rounding to bf16. cuBLASLt may round once more, before the epilogue: `before` times that
// rounding is what it changes. Says of the first only.
void ExpectNear(double got, double want, double error, double before) {
  if (::testing::Test::HasFailure()) return;
  const double more = kAlwaysTaken ? 0 : std::abs(before);
  EXPECT_NEAR(got, want, error + 0x1p-8 * (std::abs(want) + more));
}

void CheckGelu(int64_t m, int64_t n, int64_t k, bool biased, bool keeps) {
  constexpr DType kLow = DType::kBF16;
  const Tensor a = Random({m, k}, kLow, 1), b = Random({k, n}, kLow, 2),
               bias = Random({n}, kLow, 3);
  Tensor c({m, n}, kLow, kFirstGpu), z({m, n}, kLow, kFirstGpu);
  auto call = cuda::GemmCallOf<BFloat16, BFloat16>(false, a, false, b, c);
  if (biased) call.bias = cuda::Elements<BFloat16>(bias);
  cuda::GemmEpilogue<BFloat16> epilogue{.kind = EpilogueKind::kGelu};
  if (keeps) epilogue.out = cuda::MutableElements<BFloat16>(z), epilogue.stride = n;
  if (!IsTaken(call, epilogue, "GELU")) return;
  const std::vector<double> sums = Product(a, false, b, false), added = Doubles(bias);
  const std::vector<double> got = Doubles(c), kept = Doubles(z);
  for (size_t i = 0; i < sums.size(); ++i) {
    const double want = sums[i] + (biased ? added[i % n] : 0);
    // GELU's slope is at most 1.13.
    ExpectNear(got[i], Gelu(want), ErrorOf(k, std::abs(want)), 1.13 * sums[i]);
    if (keeps) ExpectNear(kept[i], want, ErrorOf(k, 0), sums[i]);
  }
}

TEST_F(GpuEpilogues, Gelu) {
  for (const bool biased : {false, true})
    for (const bool keeps : {false, true}) {
      CheckGelu(5, 24, 16, biased, keeps);
      CheckGelu(64, 128, 40, biased, keeps);
    }
}

void CheckGeluGradient(int64_t m, int64_t n, int64_t k) {
  constexpr DType kLow = DType::kBF16;
  const Tensor a = Random({m, k}, kLow, 1), b = Random({n, k}, kLow, 2),
               z = Random({m, n}, kLow, 3);
  Tensor c({m, n}, kLow, kFirstGpu);
  const cuda::GemmEpilogue<BFloat16> epilogue{
      .kind = EpilogueKind::kGeluGradient, .in = cuda::Elements<BFloat16>(z), .stride = n};
  const auto call = cuda::GemmCallOf<BFloat16, BFloat16>(false, a, true, b, c);
  if (!IsTaken(call, epilogue, "GELU's gradient")) return;
  const std::vector<double> sums = Product(a, false, b, true), inner = Doubles(z);
  const std::vector<double> got = Doubles(c);
  // The slope has the tanh as it is and squared, times z.
  for (size_t i = 0; i < sums.size(); ++i)
    ExpectNear(got[i], sums[i] * GeluSlope(inner[i]),
               ErrorOf(k, std::abs(sums[i]) * (1 + 2 * std::abs(inner[i]))),
               sums[i] * GeluSlope(inner[i]));
}

TEST_F(GpuEpilogues, GeluGradient) {
  CheckGeluGradient(33, 72, 16);
  CheckGeluGradient(64, 128, 40);
}

// As a weight's gradient asks for them, and beside each other form of operand.
template <class Low>
void CheckSums(bool of_a, bool transpose_a, bool transpose_b) {
  const int64_t m = 24, n = 40, k = 300;
  const DType low = kDTypeOf<Low>;
  const Tensor a = Random(transpose_a ? Shape{k, m} : Shape{m, k}, low, 1);
  const Tensor b = Random(transpose_b ? Shape{n, k} : Shape{k, n}, low, 2);
  Tensor c({m, n}, DType::kF32, kFirstGpu), sums({of_a ? m : n}, DType::kF32, kFirstGpu);
  const cuda::GemmEpilogue<float> epilogue{
      .kind = of_a ? EpilogueKind::kSumsOfA : EpilogueKind::kSumsOfB,
      .out = cuda::MutableElements<float>(sums)};
  const auto call = cuda::GemmCallOf<Low, float>(transpose_a, a, transpose_b, b, c);
  if (!IsTaken(call, epilogue, of_a ? "sums of A" : "sums of B")) return;
  const double tolerance = testing::Tolerance(DType::kF32, k, 100);
  const std::vector<double> want = Product(a, transpose_a, b, transpose_b), got = Doubles(c);
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance);
  const Tensor ones = Full({1, k}, 1, DType::kF32, kFirstGpu);
  const std::vector<double> want_sums =
      of_a ? Product(ones, false, a, !transpose_a) : Product(ones, false, b, transpose_b);
  const std::vector<double> got_sums = Doubles(sums);
  for (size_t i = 0; i < want_sums.size(); ++i) ASSERT_NEAR(got_sums[i], want_sums[i], tolerance);
}

TEST_F(GpuEpilogues, SumsAreF32) {
  for (const bool of_a : {false, true})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        CheckSums<BFloat16>(of_a, transpose_a, transpose_b);
        CheckSums<Float16>(of_a, transpose_a, transpose_b);
      }
}

// A caller that is refused computes by itself, on memory that was not touched.
template <class In, class Out>
void ExpectRefused(EpilogueKind kind, int64_t n, int64_t k, double beta, int64_t batch,
                   bool biased = false) {
  const Tensor a = Random({4, k}, kDTypeOf<In>, 1), b = Random({k, n}, kDTypeOf<In>, 2),
               bias = Random({n}, kDTypeOf<Out>, 3);
  Tensor c = Full({4, n}, 7, kDTypeOf<Out>, kFirstGpu),
         z = Full({4, n}, 7, kDTypeOf<Out>, kFirstGpu);
  auto call = cuda::GemmCallOf<In, Out>(false, a, false, b, c);
  call.beta = static_cast<SumOf<In>>(beta);
  call.batch = batch;
  if (biased) call.bias = cuda::Elements<Out>(bias);
  const cuda::GemmEpilogue<Out> epilogue{kind, cuda::MutableElements<Out>(z),
                                         cuda::Elements<Out>(z), n};
  EXPECT_FALSE(Takes(call, epilogue));
  for (const Tensor& untouched : {c, z})
    for (const double value : Doubles(untouched)) EXPECT_EQ(value, 7);
}

TEST_F(GpuEpilogues, WhatCublasHasNotIsRefused) {
  for (const EpilogueKind kind : {EpilogueKind::kGelu, EpilogueKind::kGeluGradient}) {
    ExpectRefused<float, float>(kind, 8, 8, 0, 1);
    ExpectRefused<double, double>(kind, 8, 8, 0, 1);
    ExpectRefused<Float16, Float16>(kind, 8, 8, 0, 1);
    ExpectRefused<BFloat16, float>(kind, 8, 8, 0, 1);
    ExpectRefused<BFloat16, BFloat16>(kind, 12, 8, 0, 1);  // rows at odd places
    ExpectRefused<BFloat16, BFloat16>(kind, 8, 0, 0, 1);
    ExpectRefused<BFloat16, BFloat16>(kind, 8, 8, 1, 1);
    ExpectRefused<BFloat16, BFloat16>(kind, 8, 8, 0, 2);
  }
  for (const EpilogueKind kind : {EpilogueKind::kSumsOfA, EpilogueKind::kSumsOfB}) {
    ExpectRefused<float, float>(kind, 8, 8, 0, 1);
    ExpectRefused<double, double>(kind, 8, 8, 0, 1);
    ExpectRefused<BFloat16, BFloat16>(kind, 8, 8, 0, 1);
    ExpectRefused<BFloat16, float>(kind, 8, 8, 0, 1, true);
  }
  ExpectRefused<BFloat16, BFloat16>(EpilogueKind::kGeluGradient, 8, 8, 0, 1, true);
}

}  // namespace
}  // namespace torus::ops
