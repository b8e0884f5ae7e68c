// The command line of train_with: --ring FILE, and otherwise that of tools/train.
#pragma once

#include <string>

#include "recipes/run/run.h"

namespace torus::tools::labs {

struct RingFlags {
  std::string file;  // as it was given
  std::string path;  // absolute
  // Complete and checked, for 4 replicas of the whole model, 40 steps and 20 s without progress
  // until the ranks give up, where nothing else was given.
  recipes::RunOptions run;
  std::string help;  // what --help asked for; nothing else is to be done then
};

// BadInput, in one line, for what ParseInvocation refuses, and RequireRun; also where the command
// line names no ring.
RingFlags ParseRingFlags(int argc, const char* const* argv);

}  // namespace torus::tools::labs
