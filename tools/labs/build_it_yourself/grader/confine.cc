#include "tools/labs/build_it_yourself/grader/confine.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace torus::tools::labs {
namespace {

void Limit(int what, uint64_t most, uint64_t above = 0) {
  const rlimit limit{most, most + above};
  setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

}  // namespace

void LimitProcess(int cpu_seconds, uint64_t memory_bytes, uint64_t file_bytes) {
  Limit(RLIMIT_CPU, static_cast<uint64_t>(cpu_seconds), 1);
  Limit(RLIMIT_AS, memory_bytes);
  Limit(RLIMIT_FSIZE, file_bytes);
  Limit(RLIMIT_CORE, 0);
}

bool CutOff(const CallFilter& filter) {
  unshare(CLONE_NEWUSER | CLONE_NEWNET);  // may be refused: the filter does it then
  unshare(CLONE_NEWIPC);                  // likewise
  return filter.Install();
}

void HideMemory() { prctl(PR_SET_DUMPABLE, 0); }

}  // namespace torus::tools::labs
