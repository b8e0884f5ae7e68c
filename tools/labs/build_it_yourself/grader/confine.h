// Restricts a child process, which calls these functions between fork and exec. So they make only
// calls that are safe there: no allocation, no locks. Only HideMemory is for the grader itself.
#pragma once

#include <cstdint>

#include "tools/labs/build_it_yourself/grader/call_filter.h"

namespace torus::tools::labs {

// Limits CPU seconds, bytes of address space, and bytes of each written file. A process that has
// used up its seconds gets SIGXCPU, which ends it, and SIGKILL a second later.
void LimitProcess(int cpu_seconds, uint64_t memory_bytes, uint64_t file_bytes);

// Removes the network and System V queues: moves the process to a network namespace without
// interfaces and to an empty IPC namespace, if the system allows that, and installs `filter`.
// Returns whether that filter is in effect; without it nothing may run.
bool CutOff(const CallFilter& filter);

// From now on only privileged processes can read this one's memory (/proc/PID/mem) and descriptors:
// those that it starts share its user. A program that it starts can be read again.
void HideMemory();

}  // namespace torus::tools::labs
