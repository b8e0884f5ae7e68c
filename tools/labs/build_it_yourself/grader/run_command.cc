#include "tools/labs/build_it_yourself/grader/run_command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "runtime/error.h"
#include "tools/labs/build_it_yourself/grader/confine.h"

namespace torus::tools::labs {
namespace {

constexpr int kNotStarted = 127;
constexpr uint64_t kMostFile = uint64_t{256} << 20;

std::string ReadAll(int pipe) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t got; (got = read(pipe, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(got));
  return text;
}

}  // namespace

CommandEnd RunCommand(const Command& command) {
  std::vector<char*> argv;
  for (const std::string& word : command.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0)
    Throw<BrokenEnvironment>("grade", "cannot make a pipe: {}", strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(pipes[1], STDOUT_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    LimitProcess(command.cpu_seconds, command.memory_bytes, kMostFile);
    execvp(argv[0], argv.data());
    _exit(kNotStarted);
  }
  close(pipes[1]);
  CommandEnd end;
  if (pid > 0) end.printed = ReadAll(pipes[0]);
  close(pipes[0]);
  int status = -1;
  if (pid > 0) waitpid(pid, &status, 0);
  if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted))
    Throw<BrokenEnvironment>("grade", "cannot start {}", command.words[0]);
  end.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return end;
}

}  // namespace torus::tools::labs
