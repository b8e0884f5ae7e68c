// Invocation: the command line of tools/train, read and checked before any work starts.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "recipes/run/run.h"

namespace torus::tools {

// The run's options, and what else a command line says.
struct Invocation : recipes::RunOptions {
  std::set<std::string> given;  // flags that the user wrote: "--lr"
  bool eval_only = false;
  bool describe = false;
  std::string preset;  // its settings are in `settings`
  bool presets = false;
  std::string help;  // what --help or --presets asked for; nothing else is to be done then
};

// Reads the arguments (argv[0] is the program); paths become absolute. BadInput, in one
// line, for a flag that is unknown, malformed, out of range, or contradicts another.
Invocation ParseInvocation(int argc, const char* const* argv);

// Takes the settings of the run in `folder`, to resume it. BadInput for a flag that was given
// another value than the run has, naming both. What may differ: where the data lie, more --epochs,
// and how the run is laid out over ranks.
void TakeSettings(const recipes::Settings& stored, const std::string& folder,
                  Invocation& invocation);

// Checks one value by itself and against the others; what the model and the data must say is
// checked later. BadInput in one line. Fills in what follows from other flags: codec none for one
// stage, and what CheckedOptions does.
void CheckAndComplete(Invocation& invocation);

}  // namespace torus::tools
