// The system calls that a rank's process may make (Linux: seccomp): those on a list. All others are
// refused, also calls that the system learns one day.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace torus::tools::labs {

// Allowed are memory, threads, clocks, reading files, and sending, receiving, reading and writing
// on what is open. So there are no new processes, no access to other processes (their memory,
// limits, priorities, processors and descriptors, and signals to them), no sockets, queues or
// shared memory, and nothing creates, changes or removes files: such a call returns EPERM. The
// process cannot open its own memory to others either (PR_SET_DUMPABLE).
class CallFilter {
 public:
  // For a process that becomes `program` by execve. It may start that program, named by this very
  // pointer, and no other. Throws BrokenEnvironment if the system has no such filters.
  explicit CallFilter(const char* program);

  // In the child, between fork and exec: allocates nothing. Returns whether the filter is in effect
  // from now on; it is also in effect for all threads that the process starts.
  bool Install() const;

 private:
  std::vector<sock_filter> steps_;
};

}  // namespace torus::tools::labs
