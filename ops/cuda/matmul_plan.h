// Describes a product to cuBLASLt, and keeps the algorithm that is chosen of its proposals. For
// sources built with CUDA only.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <functional>

#include "ops/cuda/gemm.h"
#include "ops/cuda/gemm_shape.h"

namespace torus::cuda {

// Throws BrokenEnvironment that names the call and the device, unless `status` is success.
void CheckCublas(cublasStatus_t status, const char* call, Device device);

// An epilogue in cuBLASLt's terms.
struct MatmulEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;  // the bias, or its gradient
  const void* matrix = nullptr;  // "auxiliary"
  int64_t stride = 0;            // of the matrix, in elements
};

// Includes the bias of the call.
template <class In, class Out>
MatmulEpilogue EpilogueOf(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue);

// cuBLASLt's descriptors of a call. cuBLASLt is column-major, so it sees the transpose of each
// row-major matrix and computes C^T = op(B)^T op(A)^T.
struct MatmulDescription {
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t a, b, c;  // as in GemmCall
};
template <class In, class Out>
MatmulDescription Describe(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue,
                           Device device);

struct MatmulPlan {
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace;  // bytes
};

// The answer for a call: success and a plan, or the reason for having none.
struct MatmulProposal {
  cublasStatus_t status;
  MatmulPlan plan = {};
};

// The cuBLASLt handle of the device, created on first use.
cublasLtHandle_t CublasOf(Device device);

// The time of a plan, for autotuning.
using MatmulTimer = std::function<double(const MatmulPlan&)>;

// Returns the plan that is chosen (choose_plan.h) for the product of this shape, which
// `description` is of. Caches a bounded number of answers per device. Thread-safe.
MatmulProposal PlanOf(const GemmShape& shape, MatmulDescription& description, Device device,
                      const MatmulTimer& seconds);

}  // namespace torus::cuda
