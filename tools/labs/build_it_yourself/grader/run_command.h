// Runs a program within limits and without input until it ends, and returns what it prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::tools::labs {

struct Command {
  std::vector<std::string> words;
  int cpu_seconds = 120;
  uint64_t memory_bytes = uint64_t{4} << 30;
  double deadline = 300;       // seconds after which it and all that it has started are ended
  std::string temporary = {};  // TMPDIR: what it leaves there if it is ended; empty: as it is
};

struct CommandEnd {
  bool ok = false;      // ended in time with status 0
  std::string printed;  // its first MiB
};

// Throws BrokenEnvironment if it cannot be started, and Stopped, with all of it ended, if a signal
// requests the end meanwhile (tools/common/stop_signal.h).
CommandEnd RunCommand(const Command& command);

}  // namespace torus::tools::labs
