// --memory-limit: the most memory that this process's tensors may take.
#pragma once

#include <cstdint>

namespace torus::tools {

// On the CPU and on each GPU, with what the allocators cache; 0: as it is.
void LimitMemory(uint64_t bytes);

}  // namespace torus::tools
