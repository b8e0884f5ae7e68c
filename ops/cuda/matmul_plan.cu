#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <type_traits>

#include "autograd/precision.h"
#include "ops/cuda/matmul_plan.h"
#include "runtime/error.h"

namespace torus::cuda {
namespace {

constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr size_t kMostPlans = 1024;                  // per device; when full, it is cleared

// Everything that cuBLASLt's choice may depend on.
using PlanKey = std::array<int64_t, 26>;

struct Library {
  cublasLtHandle_t handle = nullptr;
  std::map<PlanKey, MatmulProposal> plans;
};

std::mutex& LibraryMutex() {
  static std::mutex mutex;
  return mutex;
}

// With the mutex held. Never destroyed: CUDA may be gone by then.
Library& LibraryOf(Device device) {
  static std::map<int, Library>& libraries = *new std::map<int, Library>;
  Library& library = libraries[device.index];
  if (library.handle == nullptr)
    CheckCublas(cublasLtCreate(&library.handle), "cublasLtCreate", device);
  return library;
}

template <class T>
constexpr cudaDataType kCudaType = std::is_same_v<T, double>     ? CUDA_R_64F
                                   : std::is_same_v<T, float>    ? CUDA_R_32F
                                   : std::is_same_v<T, BFloat16> ? CUDA_R_16BF
                                                                 : CUDA_R_16F;

// f32 products use full precision unless TF32 was asked for.
template <class In>
cublasComputeType_t ComputeTypeOf() {
  if (std::is_same_v<In, double>) return CUBLAS_COMPUTE_64F;
  return std::is_same_v<In, float> && WithPrecision::Tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                            : CUBLAS_COMPUTE_32F;
}

template <class Value>
void Set(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t what, const Value& value,
         Device device) {
  CheckCublas(cublasLtMatmulDescSetAttribute(to, what, &value, sizeof value),
              "cublasLtMatmulDescSetAttribute", device);
}

template <class Value>
void Set(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t what, const Value& value,
         Device device) {
  CheckCublas(cublasLtMatrixLayoutSetAttribute(to, what, &value, sizeof value),
              "cublasLtMatrixLayoutSetAttribute", device);
}

template <class Value>
void Set(cublasLtMatmulPreference_t to, cublasLtMatmulPreferenceAttributes_t what,
         const Value& value, Device device) {
  CheckCublas(cublasLtMatmulPreferenceSetAttribute(to, what, &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute", device);
}

// The layout of matrices that are (rows, columns) in the product.
template <class T>
void DescribeMatrix(cublasLtMatrixLayout_t layout, const GemmMatrix<T>& matrix, int64_t rows,
                    int64_t columns, int64_t batch, Device device) {
  if (matrix.transposed) std::swap(rows, columns);
  CheckCublas(cublasLtMatrixLayoutInit(layout, kCudaType<std::remove_const_t<T>>,
                                       static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                       matrix.stride),
              "cublasLtMatrixLayoutInit", device);
  Set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batch), device);
  Set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride, device);
}

// The largest power of two, up to 256, that divides each of these addresses, in bytes.
uint32_t AlignmentOf(uintptr_t addresses) {
  const uintptr_t bits = addresses | 256u;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

// The alignment of every matrix.
template <class T>
uint32_t AlignmentOf(const GemmMatrix<T>& matrix) {
  return AlignmentOf(reinterpret_cast<uintptr_t>(matrix.data) |
                     static_cast<uintptr_t>(matrix.batch_stride) * sizeof(T));
}

uint32_t AlignmentOf(const void* address) {
  return AlignmentOf(reinterpret_cast<uintptr_t>(address));
}

// The epilogue's vector and matrix are accessed together with the result, so D gets the common
// alignment of all; null has any alignment.
template <class In, class Out>
uint32_t ResultAlignment(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue) {
  return std::min(
      {AlignmentOf(call.c), AlignmentOf(epilogue.vector), AlignmentOf(epilogue.matrix)});
}

template <class In, class Out>
PlanKey KeyOf(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue) {
  using Sum = SumOf<In>;
  return {static_cast<int64_t>(kDTypeOf<In>),
          static_cast<int64_t>(kDTypeOf<Out>),
          ComputeTypeOf<In>(),
          call.m,
          call.n,
          call.k,
          call.a.stride,
          call.b.stride,
          call.c.stride,
          call.a.transposed,
          call.b.transposed,
          call.batch,
          call.a.batch_stride,
          call.b.batch_stride,
          call.c.batch_stride,
          call.beta == Sum(0),
          epilogue.kind,
          epilogue.matrix != nullptr,
          epilogue.stride,
          AlignmentOf(epilogue.vector),
          AlignmentOf(call.a),
          AlignmentOf(call.b),
          AlignmentOf(call.c),
          ResultAlignment(call, epilogue),
          call.alpha == Sum(1),
          AlignmentOf(call.added)};
}

// cuBLASLt reports in three ways that it has no algorithm; one is an empty list.
bool SaysNone(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
}

template <class In, class Out>
MatmulProposal Propose(cublasLtHandle_t handle, const GemmCall<In, Out>& call,
                       const MatmulEpilogue& epilogue, MatmulDescription& d, Device device) {
  cublasLtMatmulPreferenceOpaque_t preference;
  CheckCublas(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit", device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace, device);
  // Otherwise sums over parts of k may be rounded to C's type part by part.
  if (sizeof(Out) < sizeof(SumOf<In>))
    Set(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}, device);
  // B comes first: it is the left operand of C^T = op(B)^T op(A)^T.
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, AlignmentOf(call.b), device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, AlignmentOf(call.a), device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      std::min(AlignmentOf(call.c), AlignmentOf(call.added)), device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, ResultAlignment(call, epilogue),
      device);
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, &d.product, &d.b, &d.a, &d.c, &d.c, &preference, 1, &result, &found);
  if (SaysNone(status)) return {status};
  CheckCublas(status, "cublasLtMatmulAlgoGetHeuristic", device);
  if (found == 0) return {CUBLAS_STATUS_NOT_SUPPORTED};
  return {status, {result.algo, result.workspaceSize}};
}

}  // namespace

void CheckCublas(cublasStatus_t status, const char* call, Device device) {
  if (status != CUBLAS_STATUS_SUCCESS)
    Throw<BrokenEnvironment>("gemm", "{} on {}: {}", call, device, cublasLtGetStatusString(status));
}

// cuBLASLt's A is our B.
template <class In, class Out>
MatmulEpilogue EpilogueOf(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue) {
  const bool biased = call.bias != nullptr;
  switch (epilogue.kind) {
    case EpilogueKind::kNone:
      return {biased ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT, call.bias};
    case EpilogueKind::kGelu:
      if (epilogue.out == nullptr)
        return {biased ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU, call.bias};
      return {biased ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX, call.bias,
              epilogue.out, epilogue.stride};
    case EpilogueKind::kGeluGradient:
      return {CUBLASLT_EPILOGUE_DGELU, nullptr, epilogue.in, epilogue.stride};
    case EpilogueKind::kSumsOfA:
      return {CUBLASLT_EPILOGUE_BGRADB, epilogue.out};
    case EpilogueKind::kSumsOfB:
      return {CUBLASLT_EPILOGUE_BGRADA, epilogue.out};
  }
  return {};
}

template <class In, class Out>
MatmulDescription Describe(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue,
                           Device device) {
  MatmulDescription d;
  CheckCublas(cublasLtMatmulDescInit(&d.product, ComputeTypeOf<In>(), kCudaType<SumOf<In>>),
              "cublasLtMatmulDescInit", device);
  const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  Set(&d.product, CUBLASLT_MATMUL_DESC_TRANSA, operation(call.b.transposed), device);
  Set(&d.product, CUBLASLT_MATMUL_DESC_TRANSB, operation(call.a.transposed), device);
  Set(&d.product, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue.kind, device);
  if (epilogue.vector != nullptr)
    Set(&d.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.vector, device);
  if (epilogue.matrix != nullptr) {
    Set(&d.product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, epilogue.matrix, device);
    Set(&d.product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, epilogue.stride, device);
  }
  DescribeMatrix(&d.a, call.a, call.m, call.k, call.batch, device);
  DescribeMatrix(&d.b, call.b, call.k, call.n, call.batch, device);
  DescribeMatrix(&d.c, call.c, call.m, call.n, call.batch, device);
  return d;
}

cublasLtHandle_t CublasOf(Device device) {
  const std::lock_guard lock(LibraryMutex());
  return LibraryOf(device).handle;
}

template <class In, class Out>
MatmulProposal PlanOf(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue,
                      MatmulDescription& description, Device device) {
  const PlanKey key = KeyOf(call, epilogue);
  const std::lock_guard lock(LibraryMutex());
  Library& library = LibraryOf(device);
  const auto known = library.plans.find(key);
  if (known != library.plans.end()) return known->second;
  if (library.plans.size() >= kMostPlans) library.plans.clear();
  return library.plans[key] = Propose(library.handle, call, epilogue, description, device);
}

#define TORUS_OF_TYPES_(Out, ...)                                                             \
  template MatmulEpilogue EpilogueOf(const GemmCall<__VA_ARGS__>&, const GemmEpilogue<Out>&); \
  template MatmulDescription Describe(const GemmCall<__VA_ARGS__>&, const MatmulEpilogue&,    \
                                      Device);                                                \
  template MatmulProposal PlanOf(const GemmCall<__VA_ARGS__>&, const MatmulEpilogue&,         \
                                 MatmulDescription&, Device);
TORUS_OF_PRODUCTS(TORUS_OF_TYPES_)
#undef TORUS_OF_TYPES_

}  // namespace torus::cuda
