// Repeats the checks of ops on a GPU: in builds with --config=emulated_gpu, and with --config=cuda
// on a machine that has a GPU.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus::testing {

inline constexpr Device kFirstGpu{DeviceKind::kCuda, 0};

bool HasGpu();

// The same values on the GPU, with the same strides if `v` is a transposed matrix. Requires a
// gradient if `v` does. Undefined if `v` is.
Variable OnGpu(const Variable& v);
std::vector<Variable> OnGpu(const std::vector<Variable>& variables);

// Ops whose families have no kernels for GPUs yet (tests/layering/kernel_tables.cc lists them).
bool IsNotPortedYet(std::string_view op);

// Calls `run`; returns false if it reaches an op that IsNotPortedYet. Any other op without a kernel
// is an error as usual.
bool RunsOnGpu(const std::function<void()>& run);

}  // namespace torus::testing
