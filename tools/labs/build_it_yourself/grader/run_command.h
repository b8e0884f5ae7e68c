// Runs a program to its end within limits, without input, and takes what it prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::tools::labs {

struct Command {
  std::vector<std::string> words;
  int cpu_seconds = 120;
  uint64_t memory_bytes = uint64_t{4} << 30;
  double deadline = 300;  // seconds until it is ended, with all that it has started
};

struct CommandEnd {
  bool ok = false;      // status 0, in time
  std::string printed;  // its first MiB
};

// BrokenEnvironment where it cannot be started.
CommandEnd RunCommand(const Command& command);

}  // namespace torus::tools::labs
