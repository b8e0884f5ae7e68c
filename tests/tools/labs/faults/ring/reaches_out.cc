// Fault: tries what would slow the grader, change a file by a way beside writing it, or become
// another program.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  const pid_t grader = getppid();
  std::string reached;
  const auto tries = [&](const char* what, long status) {
    if (status == 0) reached += std::string(" ") + what;
  };
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  const sched_param batch{};
  char* const nothing[] = {nullptr};
  const int file = open("kept.txt", O_RDONLY);
  if (file < 0) reached += " (no file)";
  tries("setpriority", setpriority(PRIO_PROCESS, static_cast<id_t>(grader), 19));
  tries("sched_setaffinity", sched_setaffinity(grader, sizeof(first), &first));
  tries("sched_setscheduler", sched_setscheduler(grader, SCHED_BATCH, &batch));
  tries("ioprio_set", syscall(SYS_ioprio_set, 1, grader, 3 << 13));
  tries("fsetxattr", fsetxattr(file, "user.grade", "100", 3, 0));
  tries("setxattr", setxattr("kept.txt", "user.grade", "100", 3, 0));
  tries("fchmodat2", syscall(452, AT_FDCWD, "kept.txt", 0600, 0));
  if (execve("/bin/true", nothing, nothing) != -1) reached += " execve";
  throw std::runtime_error("reached:" + (reached.empty() ? " nothing" : reached));
}

}  // namespace lab
