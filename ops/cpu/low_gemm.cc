#include "ops/cpu/low_gemm.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/cpu/gemv.h"
#include "ops/cpu/low_pieces.h"
#include "ops/cpu/onednn_engine.h"
#include "ops/cpu/onednn_error.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

constexpr Type TypeOf(const float*) { return Type::f32; }
constexpr Type TypeOf(const BFloat16*) { return Type::bf16; }

// The descriptor of an operand (rows, columns), stored as it is or transposed.
Desc Operand(Transpose transpose, int64_t rows, int64_t columns, int64_t stride) {
  if (transpose == Transpose::kYes) return Desc({rows, columns}, Type::bf16, {1, stride});
  return Desc({rows, columns}, Type::bf16, {stride, 1});
}

dnnl::primitive_attr AttributesOf(bool add) {
  dnnl::primitive_attr attr = UserScratch();
  if (!add) return attr;
  dnnl::post_ops ops;
  ops.append_sum();
  attr.set_post_ops(ops);
  return attr;
}

// From this number of rows of A on, packing the whole B pays: otherwise oneDNN packs it again for
// every few rows (on Zen 5, (50257, 1024) x (1024, 768) runs at 620 GFLOP/s plain and at 810
// packed).
constexpr int64_t kRowsToPack = 4096;

// The description of a product. oneDNN itself caches compiled ones by sizes and team size.
struct Product {
  Desc a, b, c, bias;
  bool add;

  dnnl::matmul::primitive_desc Make() const {
    const dnnl::matmul::desc desc =
        bias.is_zero() ? dnnl::matmul::desc(a, b, c) : dnnl::matmul::desc(a, b, bias, c);
    return {desc, AttributesOf(add), OnednnEngine()};
  }
};

// B in the layout that the product wants; `holder` owns it.
dnnl::memory PackedB(const Desc& plain, const Desc& packed, const BFloat16* b, Tensor& holder) {
  if (plain == packed) return OnednnMemory(plain, b);
  holder = ScratchFor(packed);
  dnnl::memory from = OnednnMemory(plain, b), to = OnednnMemory(packed, holder.mutable_raw());
  dnnl::reorder({OnednnEngine(), plain, OnednnEngine(), packed}).execute(OnednnStream(), from, to);
  return to;
}

template <class C>
void WriteBias(int64_t m, int64_t n, const float* bias, C* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = C(bias == nullptr ? 0.0f : bias[j]);
}

// For one row of A, where reading B takes all the time.
template <class C>
void OneRow(Transpose transpose_b, int64_t n, int64_t k, const BFloat16* a, const BFloat16* b,
            int64_t ldb, const float* bias, C* c) {
  const auto multiply = transpose_b == Transpose::kYes ? LowRowTimesTransposed : LowRowTimes;
  if constexpr (std::is_same_v<C, float>) {
    multiply(n, k, a, b, ldb, bias, c);
  } else {
    std::vector<float> sums(static_cast<size_t>(n));
    multiply(n, k, a, b, ldb, bias, sums.data());
    Round(sums.data(), n, c);
  }
}

}  // namespace

template <class C>
void LowGemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
             const BFloat16* a, int64_t lda, const BFloat16* b, int64_t ldb, const float* bias,
             bool add, C* c, int64_t ldc) {
  if (m == 0 || n == 0 || (k == 0 && add)) return;
  if (k == 0) return WriteBias(m, n, bias, c, ldc);
  if (m == 1 && !add && transpose_a == Transpose::kNo)
    return OneRow(transpose_b, n, k, a, b, ldb, bias, c);
  FixTeam();
  WithOnednnErrors("gemm", [&] {
    const Desc plain_b = Operand(transpose_b, k, n, ldb);
    const Product product{Operand(transpose_a, m, k, lda),
                          m < kRowsToPack ? plain_b : Desc({k, n}, Type::bf16, Tag::any),
                          Desc({m, n}, TypeOf(c), {ldc, 1}),
                          bias == nullptr ? Desc() : Desc({1, n}, Type::f32, {n, 1}), add};
    const dnnl::matmul::primitive_desc made = product.Make();
    Tensor holder;
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, OnednnMemory(product.a, a)},
        {DNNL_ARG_WEIGHTS, PackedB(plain_b, made.weights_desc(), b, holder)},
        {DNNL_ARG_DST, OnednnMemory(product.c, c)}};
    if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, OnednnMemory(product.bias, bias));
    OnednnExecute(dnnl::matmul(made), made.scratchpad_desc(), std::move(arguments));
  });
}

template void LowGemm(Transpose, Transpose, int64_t, int64_t, int64_t, const BFloat16*, int64_t,
                      const BFloat16*, int64_t, const float*, bool, float*, int64_t);
template void LowGemm(Transpose, Transpose, int64_t, int64_t, int64_t, const BFloat16*, int64_t,
                      const BFloat16*, int64_t, const float*, bool, BFloat16*, int64_t);

}  // namespace torus::cpu
