#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "autograd/precision.h"
#include "ops/cuda/gemm.h"
#include "ops/cuda/matmul_plan.h"
#include "runtime/element_cast.h"
#include "runtime/error.h"
#include "runtime/tensor.h"
//
#include "ops/cuda/gpu_seconds.h"
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

// Runs the plan. `result`: where to write, stored as C is.
template <class In, class Out>
void Multiply(const GemmCall<In, Out>& call, MatmulDescription& d, const MatmulPlan& plan,
              Out* result, Device device, StreamHandle stream) {
  // Freed in the order of the stream, like any tensor.
  Tensor workspace({static_cast<int64_t>(plan.workspace)}, DType::kU8, device);
  CheckCublas(
      cublasLtMatmul(CublasOf(device), &d.product, &call.alpha, call.b.data, &d.b, call.a.data,
                     &d.a, &call.beta, AddedOf(call), &d.c, result, &d.c, &plan.algorithm,
                     plan.workspace > 0 ? workspace.mutable_raw() : nullptr, plan.workspace,
                     static_cast<cudaStream_t>(stream)),
      "cublasLtMatmul", device);
}

// Memory as large as C with C's alignment, for results that are thrown away.
template <class In, class Out>
class ScratchResult {
 public:
  ScratchResult(const GemmCall<In, Out>& call, Device device)
      : ahead_(static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.c.data) % kAligned)),
        memory_({ahead_ + BytesOf(call)}, DType::kU8, device) {}
  Out* data() {
    return reinterpret_cast<Out*>(static_cast<std::byte*>(memory_.mutable_raw()) + ahead_);
  }

 private:
  static constexpr uintptr_t kAligned = 256;  // what the allocator gives
  static int64_t BytesOf(const GemmCall<In, Out>& call) {
    return ((call.batch - 1) * call.c.batch_stride + call.m * call.c.stride) *
           static_cast<int64_t>(sizeof(Out));
  }

  const int64_t ahead_;
  Tensor memory_;
};

// The time of a plan, which changes nothing that is read later: a C that is only written is
// written again when the plan is chosen, and so is what an epilogue writes.
template <class In, class Out>
double SecondsOf(const GemmCall<In, Out>& call, MatmulDescription& d, const MatmulPlan& plan,
                 Device device, StreamHandle stream) {
  const auto time = [&](Out* result) {
    return GpuSeconds(stream, [&] { Multiply(call, d, plan, result, device, stream); });
  };
  const bool reads_c = call.beta != 0 && AddedOf(call) == call.c.data;
  return reads_c ? time(ScratchResult<In, Out>(call, device).data()) : time(call.c.data);
}

// Returns cuBLASLt's reason if it has no algorithm; nothing is computed then.
template <class In, class Out>
cublasStatus_t TryToMultiply(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue,
                             Device device, StreamHandle stream) {
  const GemmShape shape = ShapeOf(call, epilogue, WithPrecision::Tf32());
  MatmulDescription d = Describe(call, EpilogueOf(call, epilogue), device);
  const MatmulProposal proposal = PlanOf(shape, d, device, [&](const MatmulPlan& plan) {
    return SecondsOf(call, d, plan, device, stream);
  });
  if (proposal.status == CUBLAS_STATUS_SUCCESS)
    Multiply(call, d, proposal.plan, call.c.data, device, stream);
  CountSlowOrNone(shape, proposal.status == CUBLAS_STATUS_SUCCESS);
  return proposal.status;
}

template <class In, class Out>
void Multiply(const GemmCall<In, Out>& call, Device device, StreamHandle stream) {
  const cublasStatus_t status = TryToMultiply(call, GemmEpilogue<Out>(), device, stream);
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
         TryToMultiply(call, epilogue, device, stream) == CUBLAS_STATUS_SUCCESS;
}

#define TORUS_OF_TYPES_(Out, ...)                                                                \
  template void Gemm(const GemmCall<__VA_ARGS__>&, Device, StreamHandle);                        \
  template bool GemmWithEpilogue(const GemmCall<__VA_ARGS__>&, const GemmEpilogue<Out>&, Device, \
                                 StreamHandle);
TORUS_OF_PRODUCTS(TORUS_OF_TYPES_)
#undef TORUS_OF_TYPES_

}  // namespace torus::cuda
