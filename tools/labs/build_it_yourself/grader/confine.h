// What a child process does to itself between fork and exec. Only calls that are safe there: no
// allocation, no locks.
#pragma once

#include <cstdint>

namespace torus::tools::labs {

// The most CPU seconds, bytes of address space, and bytes of a file that it writes.
void LimitProcess(int cpu_seconds, uint64_t memory_bytes, uint64_t file_bytes);

// No network: one of its own without any interface, where the system grants that; and no sockets,
// shared segments or looks into other processes, by a filter of system calls. Whether the filter
// holds; without it nothing may run.
bool CutOff();

}  // namespace torus::tools::labs
