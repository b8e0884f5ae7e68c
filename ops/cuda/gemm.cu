#include <algorithm>
#include <type_traits>

#include "ops/cuda/gemm.h"
#include "ops/cuda/matmul_plan.h"
#include "runtime/element_cast.h"
#include "runtime/error.h"
#include "runtime/tensor.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

constexpr int64_t kMostBatch = 32768;  // matrices per call of cuBLASLt

// What beta multiplies.
template <class In, class Out>
const Out* AddedOf(const GemmCall<In, Out>& call) {
  return call.added == nullptr ? call.c.data : call.added;
}

// C = beta added + bias.
template <class Sum, class Out>
struct WithoutProduct {
  int64_t m, n;
  GemmMatrix<Out> c;
  Sum beta;
  const Out *added, *bias;
  __device__ void operator()(int64_t i) const {
    const int64_t column = i % n, row = i / n % m, matrix = i / n / m;
    const ElementCast<Sum, Out> wide;
    const int64_t at = matrix * c.batch_stride + row * c.stride + column;
    const Sum before = beta == Sum(0) ? Sum(0) : beta * wide(added[at]);
    c.data[at] = ElementCast<Out, Sum>()(bias == nullptr ? before : before + wide(bias[column]));
  }
};

template <class In, class Out>
void Prepare(const GemmCall<In, Out>& call, StreamHandle stream) {
  ForEach(
      "gemm", call.batch * call.m * call.n, stream,
      WithoutProduct<SumOf<In>, Out>{call.m, call.n, call.c, call.beta, AddedOf(call), call.bias});
}

// Runs the plan.
template <class In, class Out>
void Multiply(const GemmCall<In, Out>& call, MatmulDescription& d, const MatmulPlan& plan,
              Device device, StreamHandle stream) {
  // Freed in the order of the stream, like any tensor.
  Tensor workspace({static_cast<int64_t>(plan.workspace)}, DType::kU8, device);
  CheckCublas(
      cublasLtMatmul(CublasOf(device), &d.product, &call.alpha, call.b.data, &d.b, call.a.data,
                     &d.a, &call.beta, AddedOf(call), &d.c, call.c.data, &d.c, &plan.algorithm,
                     plan.workspace > 0 ? workspace.mutable_raw() : nullptr, plan.workspace,
                     static_cast<cudaStream_t>(stream)),
      "cublasLtMatmul", device);
}

// Returns cuBLASLt's reason if it has no algorithm; nothing is computed then.
template <class In, class Out>
cublasStatus_t TryToMultiply(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue,
                             Device device, StreamHandle stream) {
  MatmulDescription d = Describe(call, epilogue, device);
  const MatmulProposal proposal = PlanOf(call, epilogue, d, device);
  if (proposal.status == CUBLAS_STATUS_SUCCESS) Multiply(call, d, proposal.plan, device, stream);
  return proposal.status;
}

template <class In, class Out>
void Multiply(const GemmCall<In, Out>& call, Device device, StreamHandle stream) {
  const cublasStatus_t status =
      TryToMultiply(call, EpilogueOf(call, GemmEpilogue<Out>()), device, stream);
  if (status != CUBLAS_STATUS_SUCCESS)
    Throw<BrokenEnvironment>(
        "gemm",
        "cublasLtMatmulAlgoGetHeuristic has no way to multiply {} of ({}, {}) x ({}, {}) on {}: {}",
        call.batch, call.m, call.k, call.k, call.n, device, cublasLtGetStatusString(status));
}

// The matrices of a batch from `first` on, at most `count`.
template <class In, class Out>
GemmCall<In, Out> Part(GemmCall<In, Out> call, int64_t first, int64_t count) {
  call.a.data += first * call.a.batch_stride;
  call.b.data += first * call.b.batch_stride;
  call.c.data += first * call.c.batch_stride;
  if (call.added != nullptr) call.added += first * call.c.batch_stride;
  call.batch = std::min(count, call.batch - first);
  return call;
}

}  // namespace

template <class In, class Out>
void Gemm(const GemmCall<In, Out>& asked, Device device, StreamHandle stream) {
  GemmCall<In, Out> call = asked;
  if (call.m == 0 || call.n == 0 || call.batch == 0) return;
  if (call.k == 0) return Prepare(call, stream);
  // cuBLASLt has no epilogues for f64.
  if (call.bias != nullptr && std::is_same_v<In, double>) {
    Prepare(call, stream);
    call.bias = call.added = nullptr;
    call.beta = 1;
  }
  for (int64_t first = 0; first < call.batch; first += kMostBatch)
    Multiply(Part(call, first, kMostBatch), device, stream);
}

template <class In, class Out>
bool GemmWithEpilogue(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue,
                      Device device, StreamHandle stream) {
  return MayHaveEpilogue(call, epilogue) &&
         TryToMultiply(call, EpilogueOf(call, epilogue), device, stream) == CUBLAS_STATUS_SUCCESS;
}

#define TORUS_OF_TYPES_(Out, ...)                                                                \
  template void Gemm(const GemmCall<__VA_ARGS__>&, Device, StreamHandle);                        \
  template bool GemmWithEpilogue(const GemmCall<__VA_ARGS__>&, const GemmEpilogue<Out>&, Device, \
                                 StreamHandle);
TORUS_OF_PRODUCTS(TORUS_OF_TYPES_)
#undef TORUS_OF_TYPES_

}  // namespace torus::cuda
