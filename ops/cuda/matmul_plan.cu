#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "autograd/precision.h"
#include "ops/cuda/choose_plan.h"
#include "ops/cuda/gemm_plans.h"
#include "ops/cuda/matmul_plan.h"
#include "runtime/error.h"
#include "runtime/gpu_graph.h"

namespace torus::cuda {
namespace {

constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr size_t kMostPlans = 1024;                  // per device; when full, it is cleared

struct Library {
  cublasLtHandle_t handle = nullptr;
  GemmPlans<MatmulProposal> plans{kMostPlans};
};

std::mutex& LibraryMutex() {
  static std::mutex mutex;
  return mutex;
}

// Never destroyed: CUDA may be gone by then.
Library& LibraryOf(Device device) {
  static std::map<int, Library>& libraries = *new std::map<int, Library>;
  const std::lock_guard lock(LibraryMutex());
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

// cuBLASLt reports in three ways that it has no algorithm; one is an empty list.
bool SaysNone(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
}

// B comes first: it is the left operand of C^T = op(B)^T op(A)^T.
cublasLtMatmulPreferenceOpaque_t PreferenceFor(const GemmShape& shape, Device device) {
  cublasLtMatmulPreferenceOpaque_t preference;
  CheckCublas(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit", device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace, device);
  // Otherwise sums over parts of k may be rounded to C's type part by part.
  if (IsLow(shape.out))
    Set(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}, device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b.alignment, device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a.alignment, device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      std::min(shape.c.alignment, shape.added_alignment), device);
  Set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.result_alignment, device);
  return preference;
}

template <class Value>
Value ConfigOf(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t what) {
  Value value{};
  size_t written = 0;  // an algorithm may lack the attribute
  cublasLtMatmulAlgoConfigGetAttribute(&algorithm, what, &value, sizeof value, &written);
  return value;
}

// All that tells it from other algorithms.
std::string TextOf(const cublasLtMatmulAlgo_t& a) {
  return fmt::format(
      "algorithm {} tile {} stages {} split {} by {} swizzle {} option {} inner {} cluster {}",
      ConfigOf<int32_t>(a, CUBLASLT_ALGO_CONFIG_ID),
      ConfigOf<uint32_t>(a, CUBLASLT_ALGO_CONFIG_TILE_ID),
      ConfigOf<uint32_t>(a, CUBLASLT_ALGO_CONFIG_STAGES_ID),
      ConfigOf<int32_t>(a, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
      ConfigOf<uint32_t>(a, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
      ConfigOf<uint32_t>(a, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
      ConfigOf<uint32_t>(a, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
      ConfigOf<uint16_t>(a, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
      ConfigOf<uint16_t>(a, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

// cuBLASLt's proposals for one product: a Source of ChoosePlan.
class MatmulProposals {
 public:
  static constexpr int kLists = 1;

  // `most`: of them.
  MatmulProposals(cublasLtHandle_t handle, MatmulDescription& description,
                  const cublasLtMatmulPreferenceOpaque_t& preference, int most, Device device,
                  const MatmulTimer& seconds)
      : handle_(handle),
        d_(description),
        preference_(preference),
        most_(most),
        device_(device),
        seconds_(seconds) {}

  int64_t Propose(int) {
    int found = 0;
    status_ = cublasLtMatmulAlgoGetHeuristic(handle_, &d_.product, &d_.b, &d_.a, &d_.c, &d_.c,
                                             &preference_, most_, results_.data(), &found);
    if (SaysNone(status_)) return 0;
    CheckCublas(status_, "cublasLtMatmulAlgoGetHeuristic", device_);
    return found;
  }
  // Parts that are added up in place are left to cuBLASLt's own choice: it does not say in which
  // order.
  bool IsAllowed(int64_t i) const {
    return i == 0 || ConfigOf<uint32_t>(At(i).algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) !=
                         CUBLASLT_REDUCTION_SCHEME_INPLACE;
  }
  std::string Text(int64_t i) const { return TextOf(At(i).algo); }
  std::optional<MatmulPlan> Build(int64_t i) const {
    if (At(i).state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
    return MatmulPlan{At(i).algo, At(i).workspaceSize};
  }
  double Seconds(const MatmulPlan& plan) const { return seconds_(plan); }

  // Why there is none that can be built.
  cublasStatus_t why_none() const {
    return status_ == CUBLAS_STATUS_SUCCESS ? CUBLAS_STATUS_NOT_SUPPORTED : status_;
  }

  static constexpr int kMost = 16;

 private:
  const cublasLtMatmulHeuristicResult_t& At(int64_t i) const {
    return results_[static_cast<size_t>(i)];
  }

  const cublasLtHandle_t handle_;
  MatmulDescription& d_;
  cublasLtMatmulPreferenceOpaque_t preference_;
  const int most_;
  const Device device_;
  const MatmulTimer& seconds_;
  std::array<cublasLtMatmulHeuristicResult_t, kMost> results_;
  cublasStatus_t status_ = CUBLAS_STATUS_NOT_SUPPORTED;
};

// Without choices only the first proposal is asked for.
MatmulProposal Propose(cublasLtHandle_t handle, const GemmShape& shape,
                       MatmulDescription& description, Device device, const MatmulTimer& seconds) {
  Plans* const plans = WithPlans::Current();
  const bool chooses = plans != nullptr && plans->id() != 0;
  MatmulProposals proposals(handle, description, PreferenceFor(shape, device),
                            chooses ? MatmulProposals::kMost : 1, device, seconds);
  const bool records = GpuGraph::RecordedHere(device) != nullptr;
  const std::optional<MatmulPlan> plan =
      ChoosePlan(proposals, {chooses ? TextOf(shape) : "", plans, !records});
  if (!plan.has_value()) return {proposals.why_none()};
  return {CUBLAS_STATUS_SUCCESS, *plan};
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

cublasLtHandle_t CublasOf(Device device) { return LibraryOf(device).handle; }

MatmulProposal PlanOf(const GemmShape& shape, MatmulDescription& description, Device device,
                      const MatmulTimer& seconds) {
  Library& library = LibraryOf(device);
  return library.plans.Get(CurrentPlansId(), shape, [&] {
    return Propose(library.handle, shape, description, device, seconds);
  });
}

#define TORUS_OF_TYPES_(Out, ...)                                                             \
  template MatmulEpilogue EpilogueOf(const GemmCall<__VA_ARGS__>&, const GemmEpilogue<Out>&); \
  template MatmulDescription Describe(const GemmCall<__VA_ARGS__>&, const MatmulEpilogue&, Device);
TORUS_OF_PRODUCTS(TORUS_OF_TYPES_)
#undef TORUS_OF_TYPES_

}  // namespace torus::cuda
