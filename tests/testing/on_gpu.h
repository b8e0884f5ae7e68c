// The checks of ops, once more on a GPU: in builds with --config=emulated_gpu, and with
// --config=cuda on a machine that has one.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus::testing {

inline constexpr Device kFirstGpu{DeviceKind::kCuda, 0};

bool HasGpu();

// The same values there, in the same strides where they are a transposed matrix; requires a
// gradient where `v` does. Undefined for an undefined one.
Variable OnGpu(const Variable& v);
std::vector<Variable> OnGpu(const std::vector<Variable>& variables);

// Ops whose rooms have no kernels for GPUs yet (tests/layering/gpu_doors.cc lists the rooms).
bool IsNotPortedYet(std::string_view op);

// Calls `run`; returns false where it meets an op that IsNotPortedYet. Any other op without a
// kernel is an error as usual.
bool RunsOnGpu(const std::function<void()>& run);

}  // namespace torus::testing
