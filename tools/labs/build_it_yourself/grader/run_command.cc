#include "tools/labs/build_it_yourself/grader/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "runtime/error.h"
#include "tools/common/stop_signal.h"
#include "tools/labs/build_it_yourself/grader/confine.h"

namespace torus::tools::labs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotStarted = 127;
constexpr uint64_t kMostFile = uint64_t{256} << 20;
constexpr size_t kMostPrinted = size_t{1} << 20;

// In the child: a group of its own, so that what it starts can be ended with it.
[[noreturn]] void Become(char* const* argv, int printed, const Command& command) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
  if (!command.temporary.empty()) setenv("TMPDIR", command.temporary.c_str(), 1);
  LimitProcess(command.cpu_seconds, command.memory_bytes, kMostFile);
  execvp(argv[0], argv);
  _exit(kNotStarted);
}

// Whether the pipe closed before `end`, and before a signal asked for the program's end. Keeps the
// first kMostPrinted characters.
bool ReadAll(int pipe, Clock::time_point end, std::string& text) {
  constexpr int kTurn = 100;  // milliseconds until the signal is looked for again
  std::array<char, 4096> part;
  while (true) {
    if (Clock::now() >= end || StopSignal() != 0) return false;
    pollfd ready{pipe, POLLIN, 0};
    if (poll(&ready, 1, kTurn) <= 0) continue;
    const ssize_t got = read(pipe, part.data(), part.size());
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return true;
    if (got > 0)
      text.append(part.data(), std::min(static_cast<size_t>(got), kMostPrinted - text.size()));
  }
}

}  // namespace

CommandEnd RunCommand(const Command& command) {
  std::vector<char*> argv;
  for (const std::string& word : command.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0)
    Throw<BrokenEnvironment>("grade", "cannot make a pipe: {}", strerror(errno));
  const auto deadline = std::chrono::duration<double>(command.deadline);
  const auto end_by = Clock::now() + std::chrono::duration_cast<Clock::duration>(deadline);
  const pid_t pid = fork();
  if (pid == 0) Become(argv.data(), pipes[1], command);
  close(pipes[1]);
  CommandEnd end;
  const bool in_time = pid > 0 && ReadAll(pipes[0], end_by, end.printed);
  close(pipes[0]);
  int status = -1;
  if (pid > 0) {
    if (!in_time) kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted))
    Throw<BrokenEnvironment>("grade", "cannot start {}", command.words[0]);
  if (!in_time) ThrowIfStopped();
  end.ok = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!in_time)
    end.printed += fmt::format("{} was ended after {} s\n", command.words[0], command.deadline);
  return end;
}

}  // namespace torus::tools::labs
