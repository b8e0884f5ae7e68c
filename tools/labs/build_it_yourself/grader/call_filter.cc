#include "tools/labs/build_it_yourself/grader/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

#include "runtime/error.h"

namespace torus::tools::labs {
namespace {

// Stands in the filter for the process, which does not exist yet when the filter is made.
constexpr uint32_t kSelf = 0x73656c66;

// Whatever their arguments are: each concerns the process alone, or only reads. A call that an
// architecture does not have is left out there.
constexpr int kAllowed[] = {
    // memory
    SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mprotect), SCMP_SYS(mremap),
    SCMP_SYS(madvise), SCMP_SYS(mincore), SCMP_SYS(msync), SCMP_SYS(membarrier),
    // threads and the end
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address), SCMP_SYS(rseq), SCMP_SYS(arch_prctl), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall),
    // its own signals
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(sigaltstack), SCMP_SYS(pause),
    // clocks
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(times), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
    // what it and the machine are
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getpgrp), SCMP_SYS(getuid),
    SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage), SCMP_SYS(getcpu), SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(getrandom),
    SCMP_SYS(getcwd),
    // what is open, and what files say
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
    SCMP_SYS(writev), SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(shutdown),
    SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(dup), SCMP_SYS(dup2),
    SCMP_SYS(dup3), SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(eventfd2), SCMP_SYS(poll),
    SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(stat), SCMP_SYS(lstat),
    SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getdents64)};

void Check(int status, const char* what) {
  if (status < 0)
    Throw<BrokenEnvironment>("grade", "cannot make the filter of system calls ({}): {}", what,
                             strerror(-status));
}

class Rules {
 public:
  Rules() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {
    Check(context_ ? 0 : -ENOMEM, "begin");
  }

  void Add(uint32_t action, int call, const std::vector<scmp_arg_cmp>& arguments = {}) {
    Check(seccomp_rule_add_array(context_.get(), action, call,
                                 static_cast<unsigned>(arguments.size()), arguments.data()),
          "add a rule");
  }
  // If an argument has the value.
  void AllowIf(int call, unsigned argument, uint64_t value) {
    Add(SCMP_ACT_ALLOW, call, {SCMP_CMP64(argument, SCMP_CMP_EQ, value)});
  }
  void AllowMasked(int call, unsigned argument, uint64_t mask, uint64_t value) {
    Add(SCMP_ACT_ALLOW, call, {SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value)});
  }

  // The library writes the filter's program to a descriptor alone; a pipe has room for 64 KiB.
  std::vector<sock_filter> Steps() const {
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0) Check(-errno, "make a pipe");
    const int status = seccomp_export_bpf(context_.get(), pipes[1]);
    std::vector<sock_filter> steps(8192);
    const ssize_t bytes = read(pipes[0], steps.data(), steps.size() * sizeof(sock_filter));
    close(pipes[0]);
    close(pipes[1]);
    Check(status, "write it");
    steps.resize(static_cast<size_t>(bytes < 0 ? 0 : bytes) / sizeof(sock_filter));
    return steps;
  }

 private:
  const std::unique_ptr<void, decltype(&seccomp_release)> context_;
};

// Flags that lie behind a pointer (clone3, openat2) no filter sees; the C library goes on with the
// older call where the newer one is not there.
void AddThreads(Rules& rules) {
  rules.AllowMasked(SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD);
  rules.Add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  rules.AllowIf(SCMP_SYS(tgkill), 0, kSelf);  // abort and raise
}

void AddReadingFiles(Rules& rules) {
  constexpr uint64_t kWrites = O_ACCMODE | O_CREAT | O_TRUNC;
  rules.AllowMasked(SCMP_SYS(openat), 2, kWrites, O_RDONLY);
  rules.AllowMasked(SCMP_SYS(open), 1, kWrites, O_RDONLY);
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC})
    rules.AllowIf(SCMP_SYS(fcntl), 1, static_cast<uint64_t>(command));
  for (const uint64_t request : {uint64_t{TCGETS}, uint64_t{FIONREAD}})
    rules.AllowIf(SCMP_SYS(ioctl), 1, request);
}

// Limits are only read. A rank closes its memory to others (rank_main.cc), and none opens it.
void AddItself(Rules& rules, const char* program) {
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
            {SCMP_CMP64(0, SCMP_CMP_EQ, 0), SCMP_CMP64(2, SCMP_CMP_EQ, 0)});
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(prctl),
            {SCMP_CMP64(0, SCMP_CMP_EQ, PR_SET_DUMPABLE), SCMP_CMP64(1, SCMP_CMP_EQ, 0)});
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(prctl),
            {SCMP_CMP64(0, SCMP_CMP_EQ, PR_SET_PDEATHSIG), SCMP_CMP64(1, SCMP_CMP_EQ, SIGKILL)});
  for (const int what : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE})
    rules.AllowIf(SCMP_SYS(prctl), 0, static_cast<uint64_t>(what));
  rules.AllowIf(SCMP_SYS(execve), 0, reinterpret_cast<uint64_t>(program));
}

}  // namespace

CallFilter::CallFilter(const char* program) {
  Rules rules;
  for (const int call : kAllowed) rules.Add(SCMP_ACT_ALLOW, call);
  AddThreads(rules);
  AddReadingFiles(rules);
  AddItself(rules, program);
  steps_ = rules.Steps();
}

// The process puts its own number into its copy of the filter; the parent's stays as it is.
bool CallFilter::Install() const {
  auto* const steps = const_cast<sock_filter*>(steps_.data());
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps[i].k == kSelf && BPF_CLASS(steps[i].code) == BPF_JMP)
      steps[i].k = static_cast<uint32_t>(getpid());
  const sock_fprog program{static_cast<unsigned short>(steps_.size()), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace torus::tools::labs
