// A filter of system calls (Linux: seccomp) that a child process lays upon itself between fork and
// exec, and that holds for whatever it starts. Only calls that are safe there: no allocation.
#pragma once

namespace torus::tools::labs {

// Refuses, for good, with EPERM: other processes (threads are allowed), looks into those that there
// are, sockets, shared segments; and with EACCES whatever makes, changes or removes files: opening
// one to write, truncate, unlink, rename, mkdir and their like. Files can still be read. Whether
// the filter holds.
bool FilterCalls();

}  // namespace torus::tools::labs
