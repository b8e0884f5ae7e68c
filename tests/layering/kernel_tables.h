// Which kernels that families of ops declare are for CPUs alone, and which are excused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

struct DeclaredKernel {
  std::string name;
  bool gpu = false;  // whether GPUs have it
};

// The kernels of a kernels.h, in order: lines of runtime/kernel_table.h, and functions that call
// Dispatch.
std::vector<DeclaredKernel> KernelsOf(std::string_view text);

struct Excuse {
  std::string_view family;  // of ops
  std::string_view kernel;  // "*" for all of the family's
  std::string_view reason;
};

// The kernels that GPUs do not have.
const std::vector<Excuse>& KernelsWithoutGpu();

// What is wrong in family `family` with that kernels.h: a kernel for CPUs alone without excuse, one
// for GPUs with an excuse, and an excuse for a kernel that is not there.
std::vector<std::string> CheckKernels(std::string_view family, std::string_view text);

}  // namespace torus::layering
