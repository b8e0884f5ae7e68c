// Programs that start themselves again under mpirun.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace torus::parallel {

// Whether mpirun started this process.
bool UnderMpirun();
// The command that starts a program as so many processes on a small machine without a network,
// whoever calls it. Its sockets are in a folder that is removed when the calling process exits.
std::vector<std::string> MpirunCommand(int processes, const std::vector<std::string>& program);
// Becomes `command`; returns where it cannot.
void Exec(std::vector<std::string> command);
// Runs the program to its end, with this process's streams. Returns the exit status, or 1 if a
// signal ended it.
int RunMpirun(int processes, const std::vector<std::string>& program);

struct MpirunOutput {
  int status = 0;
  std::string text;  // of both streams
};
MpirunOutput RunUnderMpirun(int processes, const std::vector<std::string>& program);

// main of a test program that is started again on `processes`: once for its `tests`, and once for
// `failure`, which must end with a status other than 0 and say all of `words`.
int RunTestsAndFailure(int argc, char** argv, int processes, const std::function<int()>& tests,
                       const std::function<void()>& failure, const std::vector<std::string>& words);

}  // namespace torus::parallel
