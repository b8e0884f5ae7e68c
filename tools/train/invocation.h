// Invocation: the command line of tools/train, read and checked before any work starts.
#pragma once

#include <cstdint>
#include <string>

#include "recipes/run/run.h"
#include "tools/common/check_flags.h"

namespace torus::tools {

// The run's options, and what else a command line says.
struct Invocation : recipes::RunOptions {
  std::string program;  // argv[0]
  GivenFlags given;     // flags that the user wrote
  bool eval_only = false;
  bool find_lr = false;
  bool describe = false;
  int64_t verify_resume = 0;  // steps until the run is stopped; 0: not wanted
  std::string preset;         // its settings are in `settings`
  bool presets = false;
  std::string help;  // the text for --help or --presets; if not empty, only print it
};

// Reads the arguments (argv[0] is the program). Paths become absolute. Throws BadInput, in one
// line, for a flag that is unknown, malformed, out of range, or contradicts another.
Invocation ParseInvocation(int argc, const char* const* argv);

// Takes over the settings of the run in `folder`, to resume it. Throws BadInput, naming both
// values, if a flag was given another value than the run has. These may differ: where the data are,
// more --epochs, and how the run is laid out over ranks.
void TakeSettings(const recipes::Settings& stored, const std::string& folder,
                  Invocation& invocation);

// Checks each value, alone and against the others, and that each flag given applies; what depends
// on the model and the data is checked later. Throws BadInput in one line. Fills in what follows
// from other flags: codec none for one stage, and what CheckedOptions fills in.
void CheckAndComplete(Invocation& invocation);

}  // namespace torus::tools
