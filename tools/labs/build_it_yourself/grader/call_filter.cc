#include "tools/labs/build_it_yourself/grader/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace torus::tools::labs {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

// io_uring opens files without a call for each.
constexpr int kNotAllowed[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_ptrace,
    SYS_kill,
    SYS_shmget,
    SYS_mq_open,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_setsid,
    SYS_memfd_create,
    SYS_pidfd_getfd,
    SYS_io_uring_setup,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
#endif
};

// openat2 has its flags behind a pointer, where no filter sees them. Arm has only those that end in
// "at".
constexpr int kChangesFiles[] = {
    SYS_openat2,  SYS_truncate,  SYS_unlinkat,  SYS_renameat, SYS_renameat2,   SYS_mkdirat,
    SYS_mknodat,  SYS_linkat,    SYS_symlinkat, SYS_fchmodat, SYS_fchownat,    SYS_utimensat,
    SYS_setxattr, SYS_lsetxattr, SYS_fchmod,    SYS_fchown,   SYS_removexattr,
#if defined(__x86_64__)
    SYS_creat,    SYS_unlink,    SYS_rename,    SYS_mkdir,    SYS_rmdir,       SYS_mknod,
    SYS_link,     SYS_symlink,   SYS_chmod,     SYS_chown,    SYS_lchown,      SYS_utime,
    SYS_utimes,   SYS_futimesat,
#endif
};

constexpr uint32_t kWrites = O_ACCMODE | O_CREAT | O_TRUNC;

// The filter's program. Each rule lets calls that it does not mean go on to the next.
class Program {
 public:
  constexpr Program() {
    Load(offsetof(seccomp_data, arch));
    Add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    Refuse(EPERM);  // the numbers of another architecture mean other calls
    Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    constexpr uint32_t kX32 = 0x40000000;
    Add(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1);
    Refuse(EPERM);
#endif
    for (const int call : kNotAllowed) RefuseCall(call, EPERM);
    for (const int call : kChangesFiles) RefuseCall(call, EACCES);
    RefuseCall(SYS_clone3, ENOSYS);  // flags behind a pointer: the library goes on with clone
    RefuseProcesses();
    RefuseWrites(SYS_openat, 2);
#if defined(__x86_64__)
    RefuseWrites(SYS_open, 1);
#endif
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }

  constexpr const std::array<sock_filter, 160>& steps() const { return steps_; }
  constexpr unsigned short size() const { return size_; }

 private:
  constexpr void Add(int code, uint32_t value, int if_so, int if_not) {
    steps_.at(size_++) = {static_cast<uint16_t>(code), static_cast<uint8_t>(if_so),
                          static_cast<uint8_t>(if_not), value};
  }
  constexpr void Load(size_t offset) {
    Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0);
  }
  constexpr void Refuse(int error) {
    Add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error), 0, 0);
  }
  constexpr void RefuseCall(int call, int error) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
    Refuse(error);
  }
  // Threads are made by the same call.
  constexpr void RefuseProcesses() {
    Add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
    Load(offsetof(seccomp_data, args));
    Add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    Refuse(EPERM);
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }
  // The flags are the lower half of that argument: both architectures have it first.
  constexpr void RefuseWrites(int call, size_t argument) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
    Load(offsetof(seccomp_data, args) + argument * sizeof(uint64_t));
    Add(BPF_JMP | BPF_JSET | BPF_K, kWrites, 0, 1);
    Refuse(EACCES);
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }

  std::array<sock_filter, 160> steps_{};
  unsigned short size_ = 0;
};

constexpr Program kProgram;

}  // namespace

bool FilterCalls() {
  const sock_fprog program{kProgram.size(), const_cast<sock_filter*>(kProgram.steps().data())};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace torus::tools::labs
