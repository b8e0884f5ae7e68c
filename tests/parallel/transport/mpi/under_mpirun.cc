#include "tests/parallel/transport/mpi/under_mpirun.h"

#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "tests/testing/command.h"

// OpenMPI's messages through shared memory take two locks of their own in either order; and what
// orders the threads in oneDNN's cache of primitives, ThreadSanitizer does not see.
extern "C" const char* __tsan_default_suppressions() {
  return "deadlock:mca_btl_vader\nrace:libdnnl\nrace:dnnl::\n";
}

namespace torus::parallel {
namespace {

// Folders for the sockets of jobs, whose names must be short. Jobs at the same time would remove
// OpenMPI's usual one under each other.
class SessionFolders {
 public:
  ~SessionFolders() {
    std::error_code ignored;
    for (const std::string& folder : folders_) std::filesystem::remove_all(folder, ignored);
  }
  std::string New() {
    char folder[] = "/tmp/torus-mpi-XXXXXX";
    if (mkdtemp(folder) == nullptr) return "/tmp";
    const std::scoped_lock lock(mutex_);
    return folders_.emplace_back(folder);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> folders_;
};

std::string NewSessionFolder() {
  static SessionFolders folders;
  return folders.New();
}

}  // namespace

bool UnderMpirun() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

std::vector<std::string> MpirunCommand(int processes, const std::vector<std::string>& program) {
  std::vector<std::string> command{"mpirun", "-n", std::to_string(processes), "--oversubscribe",
                                   "--allow-run-as-root", "--bind-to", "none", "--tag-output",
                                   // This machine alone: shared memory, no search for others.
                                   "--mca", "btl", "self,vader", "--mca", "plm", "isolated",
                                   "--mca", "orte_tmpdir_base", NewSessionFolder(),
                                   // OpenMPI leaves memory behind when it ends, which is not ours
                                   // for AddressSanitizer to find.
                                   "-x", "ASAN_OPTIONS=detect_leaks=0"};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

void Exec(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv("TMPDIR", "/tmp", 1);  // mpirun's sockets' names must be short
  execvp(arguments[0], arguments.data());
}

int RunMpirun(int processes, const std::vector<std::string>& program) {
  const std::vector<std::string> command = MpirunCommand(processes, program);
  const pid_t process = fork();
  if (process == 0) {
    Exec(command);
    std::perror("mpirun");
    _exit(1);
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

MpirunOutput RunUnderMpirun(int processes, const std::vector<std::string>& program) {
  // Its sockets' names must be short.
  const std::string command =
      fmt::format("TMPDIR=/tmp {} 2>&1", fmt::join(MpirunCommand(processes, program), " "));
  const torus::testing::Outcome outcome = torus::testing::RunCommand(command);
  return {outcome.status, outcome.output};
}

int RunTestsAndFailure(int argc, char** argv, int processes, const std::function<int()>& tests,
                       const std::function<void()>& failure,
                       const std::vector<std::string>& words) {
  const std::string task = argc > 1 ? argv[1] : "";
  if (task == "failure") return failure(), 0;
  if (task == "tests") return tests();
  const MpirunOutput tested = RunUnderMpirun(processes, {argv[0], "tests"});
  std::fputs(tested.text.c_str(), stdout);
  const MpirunOutput failed = RunUnderMpirun(processes, {argv[0], "failure"});
  bool said = failed.status != 0;
  for (const std::string& word : words) said = said && failed.text.find(word) != std::string::npos;
  if (!said) std::fputs(failed.text.c_str(), stdout);
  return tested.status == 0 && said ? 0 : 1;
}

}  // namespace torus::parallel
