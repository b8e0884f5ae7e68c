// Checks that a run which is stopped and resumed gives the bits of one that never stops.
#pragma once

#include <cstdint>
#include <string>

#include "recipes/run/run.h"

namespace torus::recipes {

struct ResumeCheck {
  bool finished = true;   // false: `stop` ended it, and nothing was compared
  int64_t steps = 0;      // of each of the two runs that are compared
  int64_t tensors = 0;    // compared: weights, optimizer state, averages and codecs' state
  int64_t different = 0;  // of them
  std::string first;      // what differs first, and where: empty if nothing does
};

// Trains `steps` steps into OUT/stopped, continues that run in the fresh folder OUT/resumed for as
// many steps again (or to the end of its epochs), and trains as many without a stop into OUT/whole;
// then compares the checkpoints of the last two. OUT is `options.out`, or "verify-resume" in
// `options.runs`. Called as Run is; processes that do not lead return without comparing. Throws
// what Run throws, and BadInput if the run has no more than `steps` steps or options.resume is set.
ResumeCheck VerifyResume(const RunOptions& options, int64_t steps,
                         const RunCallbacks& callbacks = {}, parallel::World* world = nullptr);

// In one line, for people.
std::string ToText(const ResumeCheck& check);

// Compares two checkpoints, tensor by tensor, and fills in all but `finished` and `steps`.
ResumeCheck CompareCheckpoints(const std::string& whole, const std::string& resumed);

}  // namespace torus::recipes
