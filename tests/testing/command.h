// A shell's command, run to its end.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace torus::testing {

struct Outcome {
  int status = -1;  // of exit; 128 + signal
  std::string output;
};

// Of stdout alone, unless the command says "2>&1" itself. -1 is the status where there is no shell.
inline Outcome RunCommand(const std::string& command) {
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (const size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe))
    outcome.output.append(buffer, bytes);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace torus::testing
