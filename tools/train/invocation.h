// Invocation: the command line of tools/train, read and checked before any work starts.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "recipes/settings/settings.h"

namespace torus::tools {

struct Invocation {
  recipes::Settings settings;
  std::set<std::string> given;  // flags that the user wrote: "--lr"

  // Not part of what the run is: these may differ when it is resumed.
  std::string out;               // empty: runs/NAME-DATE, or the resumed run's own folder
  std::string resume;            // a run's folder, or its checkpoint folder
  int64_t max_steps = 0;         // 0: no limit but the epochs
  int64_t checkpoint_every = 0;  // steps; 0: at the end of each epoch
  int64_t eval_every = 0;        // steps; 0: at the end of each epoch
  int64_t keep = 2;              // checkpoints
  double timeout = 60;           // seconds
  int64_t max_skipped = 10;      // steps in a row
  bool eval_only = false;
  bool describe = false;
  std::string preset;  // name of a recipe; its flags are in `settings`
  bool presets = false;
  std::string help;  // what --help or --presets asked for; nothing else is to be done then
};

// Reads the arguments (argv[0] is the program); paths become absolute. BadInput, in one
// line, for a flag that is unknown, malformed, out of range, or contradicts another.
Invocation ParseInvocation(int argc, const char* const* argv);

// Takes the settings of the run in `folder`, to resume it. BadInput for a flag that was given
// another value than the run has, naming both. What may differ: where the data lie, --epochs, and
// how the run is laid out over ranks.
void TakeSettings(const recipes::Settings& stored, const std::string& folder,
                  Invocation& invocation);

// Checks one value by itself and against the others; what the model and the data must say is
// checked later. BadInput in one line. Fills in what follows from other flags: stages from a list
// of cuts, codec none for one stage, threads.
void CheckAndComplete(Invocation& invocation);

}  // namespace torus::tools
