// A filter of system calls (Linux: seccomp). A child process installs it between fork and exec, so
// it makes only calls that are safe there and allocates nothing. The filter also applies to all
// processes that it starts.
#pragma once

namespace torus::tools::labs {

// From now on refuses new processes (threads are allowed), access to other processes (their memory,
// limits and descriptors, and signals to them), sockets, message queues, semaphores and shared
// memory segments (EPERM), and all that creates, changes or removes files (EACCES): opening a file
// for writing, truncate, unlink, rename, mkdir and the like. Files can still be read. The process
// cannot open its own memory to others either (PR_SET_DUMPABLE).
// Returns whether the filter is in effect.
bool FilterCalls();

}  // namespace torus::tools::labs
