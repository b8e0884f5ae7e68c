#include "tools/labs/build_it_yourself/grader/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "runtime/error.h"
#include "tools/labs/build_it_yourself/grader/confine.h"
#include "tools/labs/build_it_yourself/rank/lab_protocol.h"

namespace torus::tools::labs {
namespace {

constexpr int kNotConfined = 126, kNotStarted = 127;

// In the child. Its descriptors are moved out of the way first, so that none lands on another.
[[noreturn]] void Become(const char* program, int door, int printed, const Limits& limits,
                         const CallFilter& filter) {
  door = fcntl(door, F_DUPFD, 10);
  printed = fcntl(printed, F_DUPFD, 10);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
  dup2(door, lab::kDoor);
  syscall(SYS_close_range, lab::kDoor + 1, ~0U, 0);
  setpgid(0, 0);
  LimitProcess(limits.cpu_seconds, limits.memory_bytes, 0);
  if (!CutOff(filter)) _exit(kNotConfined);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a namespace of its own would have cleared it
  char* const arguments[] = {const_cast<char*>("rank"), nullptr};
  // One pool for all threads: each more would take 64 MiB of the address space that is limited.
  char* const environment[] = {const_cast<char*>("MALLOC_ARENA_MAX=1"), nullptr};
  execve(program, arguments, environment);
  _exit(kNotStarted);
}

void Check(bool ok, const char* what) {
  if (!ok) Throw<BrokenEnvironment>("grade", "cannot {}: {}", what, strerror(errno));
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The system counts by clock ticks against a limit, and exactly here: on a busy machine the two
// differ.
bool HasUsedUp(const rusage& used, const Limits& limits) {
  return Seconds(used.ru_utime) + Seconds(used.ru_stime) > 0.5 * limits.cpu_seconds;
}

std::string TextOfSignal(int number, const rusage& used, const Limits& limits) {
  if (number == SIGXCPU || (number == SIGKILL && HasUsedUp(used, limits)))
    return fmt::format("was ended after {} s of CPU time: does a loop never end?",
                       limits.cpu_seconds);
  if (number == SIGKILL) return "was killed, not by the grader: is the machine out of memory?";
  return fmt::format("crashed: signal {} ({})", number, strsignal(number));
}

std::string TextOfStatus(int status, const rusage& used, const Limits& limits) {
  if (WIFSIGNALED(status)) return TextOfSignal(WTERMSIG(status), used, limits);
  const int code = WEXITSTATUS(status);
  if (code == kNotConfined)
    return "could not be cut off from files, processes and the network, so it was not run";
  if (code == kNotStarted) return "could not be started";
  return fmt::format("ended by itself with status {} before it had a result", code);
}

}  // namespace

RankProcess::RankProcess(const std::string& program, const Limits& limits) {
  const CallFilter filter(program.c_str());
  int doors[2], prints[2];
  Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, doors) == 0, "make a socket pair");
  Check(pipe2(prints, O_CLOEXEC) == 0, "make a pipe");
  pid_ = fork();
  if (pid_ == 0) Become(program.c_str(), doors[1], prints[1], limits, filter);
  close(doors[1]);
  close(prints[1]);
  door_ = doors[0];
  printed_ = prints[0];
  Check(pid_ > 0, "start a process");
  fcntl(door_, F_SETFL, O_NONBLOCK);
  fcntl(printed_, F_SETFL, O_NONBLOCK);
}

RankProcess::~RankProcess() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // where it has not come to make its group yet
    waitpid(pid_, nullptr, 0);
  }
  close(door_);
  close(printed_);
}

std::string RankProcess::WaitForEnd(const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  int status = 0;
  rusage used{};
  const auto end = Clock::now() + std::chrono::seconds(1);
  while (wait4(pid_, &status, WNOHANG, &used) != pid_) {
    if (Clock::now() > end) return "closed its wire and went on";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(-pid_, SIGKILL);
  pid_ = -1;
  return TextOfStatus(status, used, limits);
}

}  // namespace torus::tools::labs
