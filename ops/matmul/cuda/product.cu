#include <algorithm>

#include "ops/cuda/gemm_of_tensors.h"
#include "ops/matmul/kernels.h"
#include "ops/matmul/matrix_layout.h"
#include "runtime/broadcast.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/strided.h"
//
#include "runtime/cuda/column_sums.h"

namespace torus::cuda {
namespace {

// Multiplies contiguous matrices; adds `added`, which may be `out`, unless it is undefined.
void Multiply(bool transpose_a, const Tensor& a, bool transpose_b, const Tensor& b,
              const Tensor& bias, Tensor& out, StreamHandle stream, const Tensor& added = {}) {
  VisitProduct("linear", a.dtype(), out.dtype(), [&]<class In, class Out>(ProductTypes<In, Out>) {
    GemmCall<In, Out> call = GemmCallOf<In, Out>(transpose_a, a, transpose_b, b, out);
    call.bias = ElementsOrNull<Out>(bias);
    call.beta = added.defined() ? 1 : 0;
    call.added = ElementsOrNull<Out>(added);
    Gemm(call, out.device(), stream);
  });
}

// Iterates over the matrices of a batch, in groups with a constant stride.
struct BatchWalk {
  int64_t groups;
  StridedWalk<3> start;  // of a group, in a, b and out
  int64_t size = 1;      // of a group
  int64_t steps[3] = {};
};

BatchWalk WalkBatch(const Tensor& a, const Tensor& b, const Tensor& out) {
  BroadcastPlan full{.operands = 3};
  for (int d = 0; d + 2 < out.rank(); ++d) {
    full.shape.push_back(out.dim(d));
    full.strides[0].push_back(a.strides()[d]);
    full.strides[1].push_back(b.strides()[d]);
    full.strides[2].push_back(out.strides()[d]);
  }
  const BroadcastPlan merged = MergedPlan(full);
  const auto longest = std::max_element(merged.shape.begin(), merged.shape.end());
  BatchWalk walk{};
  BroadcastPlan others{.operands = 3};
  for (int d = 0; d < merged.shape.rank(); ++d) {
    const bool inner = merged.shape.begin() + d == longest;
    if (inner) walk.size = merged.shape[d];
    if (!inner) others.shape.push_back(merged.shape[d]);
    for (int k = 0; k < 3; ++k) {
      if (inner)
        walk.steps[k] = merged.strides[k][d];
      else
        others.strides[k].push_back(merged.strides[k][d]);
    }
  }
  walk.groups = Numel(others.shape);
  walk.start = WalkOf<3>(others);
  return walk;
}

// f32 sums of 16-bit rows in the call of a product, if cuBLASLt supports it.
bool MultiplyAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out, Tensor& sum,
                    StreamHandle stream) {
  bool done = false;
  VisitProduct("linear", a.dtype(), out.dtype(), [&]<class In, class Out>(ProductTypes<In, Out>) {
    const GemmEpilogue<Out> epilogue{of_a ? EpilogueKind::kSumsOfA : EpilogueKind::kSumsOfB,
                                     MutableElements<Out>(sum)};
    done = GemmWithEpilogue(GemmCallOf<In, Out>(true, a, false, b, out), epilogue, out.device(),
                            stream);
  });
  return done;
}

template <class Low>
void SumLowRows(const Tensor& x, Tensor& sum, StreamHandle stream) {
  SumColumns("linear", 1, x.dim(0), x.dim(1), LoadWide<float, Low>{Elements<Low>(x)}, 1,
             MutableElements<float>(sum), sum.device(), stream);
}

}  // namespace

void Product(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  Multiply(false, a, false, b, bias, out, stream);
}

void ProductByTransposed(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  Multiply(false, a, true, b, bias, out, stream);
}

void ProductPlus(const Tensor& a, const Tensor& b, bool by_transposed, const Tensor& bias,
                 const Tensor& added, Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  Multiply(false, a, by_transposed, b, bias, out, stream, added);
}

void ProductOfTransposed(const Tensor& a, const Tensor& b, Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  Multiply(true, a, false, b, Tensor(), out, stream);
}

void SumOfLowRows(const Tensor& x, Tensor& sum) {
  const StreamHandle stream = CurrentStream(sum.device());
  x.dtype() == DType::kF16 ? SumLowRows<Float16>(x, sum, stream)
                           : SumLowRows<BFloat16>(x, sum, stream);
}

void ProductOfTransposedAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out,
                               Tensor& sum) {
  if (MultiplyAndSum(a, b, of_a, out, sum, CurrentStream(out.device()))) return;
  ProductOfTransposed(a, b, out);
  SumOfLowRows(of_a ? a : b, sum);
}

void BatchedProduct(const Tensor& a, const Tensor& b, Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  if (out.numel() == 0) return;
  const int64_t m = out.dim(-2), n = out.dim(-1);
  const ops::StoredMatrix left = ops::StoredAs(a), right = ops::StoredAs(b);
  const BatchWalk walk = WalkBatch(a, b, out);
  VisitProduct("matmul", a.dtype(), out.dtype(), [&]<class In, class Out>(ProductTypes<In, Out>) {
    for (int64_t group = 0; group < walk.groups; ++group) {
      const auto from = walk.start(group);
      GemmCall<In, Out> call{
          m,
          n,
          a.dim(-1),
          {Elements<In>(a) + from.at[0], left.stride, left.transposed, walk.steps[0]},
          {Elements<In>(b) + from.at[1], right.stride, right.transposed, walk.steps[1]},
          {MutableElements<Out>(out) + from.at[2], n, false, walk.steps[2]}};
      call.batch = walk.size;
      Gemm(call, out.device(), stream);
    }
  });
}

}  // namespace torus::cuda
