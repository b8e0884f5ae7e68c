// How cuBLASLt is told of a product, and the way it chose to compute it. In CUDA sources only.
#pragma once

#include <cublasLt.h>

#include <cstddef>

#include "ops/cuda/gemm.h"

namespace torus::cuda {

// BrokenEnvironment that names the call and the device, unless `status` is success.
void CheckCublas(cublasStatus_t status, const char* call, Device device);

// cuBLASLt's descriptions of a call. It reads matrices by columns, and so sees the transpose of
// each of ours: it is asked for C^T = op(B)^T op(A)^T. A bias is part of the product where
// `epilogue`.
struct MatmulDescription {
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t a, b, c;  // as in GemmCall
};
template <class In, class Out>
MatmulDescription Describe(const GemmCall<In, Out>& call, bool epilogue, Device device);

struct MatmulPlan {
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace;  // bytes
};

// The device's handle of cuBLASLt, made on first use.
cublasLtHandle_t CublasOf(Device device);

// What cuBLASLt proposes for the call; kept for calls alike, of each device a bounded number. From
// any thread.
template <class In, class Out>
MatmulPlan PlanOf(const GemmCall<In, Out>& call, bool epilogue, MatmulDescription& description,
                  Device device);

}  // namespace torus::cuda
