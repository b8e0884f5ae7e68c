// What a child process does to itself between fork and exec. Only calls that are safe there: no
// allocation, no locks.
#pragma once

#include <cstdint>

namespace torus::tools::labs {

// The most CPU seconds, bytes of address space, and bytes of a file that it writes. What has had
// its seconds gets SIGXCPU, which ends it; SIGKILL a second later.
void LimitProcess(int cpu_seconds, uint64_t memory_bytes, uint64_t file_bytes);

// No network: one of its own without any interface, where the system grants that; and what
// FilterCalls refuses. Whether that filter holds; without it nothing may run.
bool CutOff();

}  // namespace torus::tools::labs
