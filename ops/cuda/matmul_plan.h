// How cuBLASLt is told of a product, and the way it chose to compute it. In CUDA sources only.
#pragma once

#include <cublasLt.h>

#include <cstddef>

#include "ops/cuda/gemm.h"

namespace torus::cuda {

// BrokenEnvironment that names the call and the device, unless `status` is success.
void CheckCublas(cublasStatus_t status, const char* call, Device device);

// An epilogue in cuBLASLt's terms.
struct MatmulEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;  // the bias, or its gradient
  const void* matrix = nullptr;  // "auxiliary"
  int64_t stride = 0;            // of the matrix, in elements
};

// The call's bias is part of it.
template <class In, class Out>
MatmulEpilogue EpilogueOf(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue);

// cuBLASLt's descriptions of a call. It reads matrices by columns, and so sees the transpose of
// each of ours: it is asked for C^T = op(B)^T op(A)^T.
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

// What cuBLASLt says of a call: success and a plan, or why it has none.
struct MatmulProposal {
  cublasStatus_t status;
  MatmulPlan plan = {};
};

// The device's handle of cuBLASLt, made on first use.
cublasLtHandle_t CublasOf(Device device);

// What cuBLASLt proposes for the call; kept for calls alike, of each device a bounded number. From
// any thread.
template <class In, class Out>
MatmulProposal PlanOf(const GemmCall<In, Out>& call, const MatmulEpilogue& epilogue,
                      MatmulDescription& description, Device device);

}  // namespace torus::cuda
