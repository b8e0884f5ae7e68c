// Lets a tool count products on emulated GPUs instead of computing them.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "ops/cuda/gemm.h"
#include "runtime/device.h"
#include "runtime/dtype.h"

namespace torus::cuda {

struct SeenMatrix {
  const void* data = nullptr;
  int64_t stride = 0, batch_stride = 0;  // in elements, as in GemmMatrix
  bool transposed = false;
};

// A GemmCall with its epilogue, of whatever types.
struct SeenProduct {
  DType in, out;
  bool tf32 = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  SeenMatrix a, b, c;
  const void* added = nullptr;  // stored as C is, which it may be; null: nothing
  const void* bias = nullptr;
  EpilogueKind epilogue = EpilogueKind::kNone;
  const void* epilogue_in = nullptr;
  const void* epilogue_out = nullptr;
};

using ProductWatch = std::function<void(const SeenProduct&, StreamHandle)>;

// While it is alive, products of emulated GPUs are handed to `watch`, on any thread, and not
// computed. There may be one at a time, and no other thread may be in Gemm while it is created or
// destroyed. Real GPUs ignore it.
class ProductStandIn {
 public:
  explicit ProductStandIn(ProductWatch watch) { current_ = std::move(watch); }
  ~ProductStandIn() { current_ = nullptr; }
  ProductStandIn(const ProductStandIn&) = delete;
  ProductStandIn& operator=(const ProductStandIn&) = delete;

  // The current one; empty if there is none.
  static const ProductWatch& Current() { return current_; }

 private:
  static inline ProductWatch current_;
};

}  // namespace torus::cuda
