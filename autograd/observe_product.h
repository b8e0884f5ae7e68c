// For kernels' declarations (runtime/kernel_table.h): tells OpObservers (op_observer.h) of
// products.
#pragma once

#include <cstdint>

namespace torus {

// Notifies the thread's observers that a matrix product or convolution of `flops` floating-point
// operations is submitted to a device; not if there are none.
void ObserveProduct(int64_t flops);

}  // namespace torus
