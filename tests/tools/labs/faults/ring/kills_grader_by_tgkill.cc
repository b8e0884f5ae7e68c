// Fault: ends the grader by a signal to one of its threads.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stdexcept>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  const pid_t grader = getppid();
  if (syscall(SYS_tgkill, grader, grader, SIGKILL) != 0)
    throw std::runtime_error("no signal to a thread of the grader");
}

}  // namespace lab
