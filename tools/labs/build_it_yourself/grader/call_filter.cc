#include "tools/labs/build_it_yourself/grader/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
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

// The filter's program for the process `self`. Each rule lets calls that it does not mean go on to
// the next.
class Program {
 public:
  constexpr explicit Program(uint32_t self) {
    Load(offsetof(seccomp_data, arch));
    Add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    Refuse(EPERM);  // the numbers of another architecture mean other calls
    LoadCall();
#if defined(__x86_64__)
    constexpr uint32_t kX32 = 0x40000000;
    Add(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1);
    Refuse(EPERM);
#endif
    for (const int call : kNotAllowed) RefuseCall(call, EPERM);
    for (const int call : kChangesFiles) RefuseCall(call, EACCES);
    RefuseCall(SYS_clone3, ENOSYS);  // flags behind a pointer: the library goes on with clone
    RefuseProcesses();
    RefuseByArgument(SYS_tgkill, 0, self, false);  // abort and raise are such calls
    RefuseByArgument(SYS_prlimit64, 0, 0,
                     false);  // 0 is the process itself, as the library calls it
    RefuseOthersSignals();
    RefuseOpenMemory();
    RefuseWrites(SYS_openat, 2);
#if defined(__x86_64__)
    RefuseWrites(SYS_open, 1);
#endif
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }

  constexpr const std::array<sock_filter, 256>& steps() const { return steps_; }
  constexpr unsigned short size() const { return size_; }

 private:
  constexpr void Add(int code, uint32_t value, int if_so, int if_not) {
    steps_.at(size_++) = {static_cast<uint16_t>(code), static_cast<uint8_t>(if_so),
                          static_cast<uint8_t>(if_not), value};
  }
  constexpr void Load(size_t offset) {
    Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0);
  }
  constexpr void LoadCall() { Load(offsetof(seccomp_data, nr)); }
  // Its lower half, which comes first on both architectures.
  constexpr void LoadArgument(size_t argument) {
    Load(offsetof(seccomp_data, args) + argument * sizeof(uint64_t));
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
    LoadArgument(0);
    Add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    Refuse(EPERM);
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }
  // Calls whose argument is the value are refused if `equal`, else all others.
  constexpr void RefuseByArgument(int call, size_t argument, uint32_t value, bool equal) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
    LoadArgument(argument);
    Add(BPF_JMP | BPF_JEQ | BPF_K, value, equal ? 0 : 1, equal ? 1 : 0);
    Refuse(EPERM);
    LoadCall();
  }
  // A descriptor's owner gets a signal, any one, when something comes.
  constexpr void RefuseOthersSignals() {
    for (const int command : {F_SETOWN, F_SETOWN_EX}) RefuseByArgument(SYS_fcntl, 1, command, true);
    for (const int request : {FIOSETOWN, SIOCSPGRP}) RefuseByArgument(SYS_ioctl, 1, request, true);
  }
  // A rank has closed its memory to other processes (rank_main.cc) and may not open it again.
  constexpr void RefuseOpenMemory() {
    Add(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 6);
    LoadArgument(0);
    Add(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_DUMPABLE, 0, 3);
    LoadArgument(1);
    Add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    Refuse(EPERM);
    LoadCall();
  }
  constexpr void RefuseWrites(int call, size_t argument) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
    LoadArgument(argument);
    Add(BPF_JMP | BPF_JSET | BPF_K, kWrites, 0, 1);
    Refuse(EACCES);
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }

  std::array<sock_filter, 256> steps_{};
  unsigned short size_ = 0;
};

static_assert(Program(1).size() > 0, "there is room for all steps");

}  // namespace

bool FilterCalls() {
  const Program filter(static_cast<uint32_t>(getpid()));
  const sock_fprog program{filter.size(), const_cast<sock_filter*>(filter.steps().data())};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace torus::tools::labs
