// The command line of train_with: --ring FILE, and the flags of tools/train.
#pragma once

#include <string>

#include "recipes/run/run.h"

namespace torus::tools::labs {

struct RingFlags {
  std::string file;  // as given
  std::string path;  // the same, absolute
  // Complete and checked. Defaults: 4 replicas of the whole model, 40 steps, and a timeout of 20 s
  // without progress.
  recipes::RunOptions run;
  std::string help;  // the text for --help; if not empty, only print it
};

// Throws BadInput, in one line, for what ParseInvocation and RequireRun refuse, and without a
// --ring.
RingFlags ParseRingFlags(int argc, const char* const* argv);

}  // namespace torus::tools::labs
