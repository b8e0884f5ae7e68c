// Runs a program to its end within limits, and takes what it prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::tools::labs {

struct Command {
  std::vector<std::string> words;
  int cpu_seconds = 120;
  uint64_t memory_bytes = uint64_t{4} << 30;
};

struct CommandEnd {
  bool ok = false;  // status 0
  std::string printed;
};

// BrokenEnvironment where it cannot be started.
CommandEnd RunCommand(const Command& command);

}  // namespace torus::tools::labs
