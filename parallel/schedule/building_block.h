// Schedules from a building block (Qi et al. 2024, "Pipeline Parallelism with Controllable
// Memory"): the passes of one micro-batch through V-shaped stages (v_shape.h), repeated for each
// micro-batch one period later. How long a rank holds what a pass keeps, in periods, is how much it
// holds at once. Internal to the schedules that use it.
#pragma once

#include <array>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct BuildingBlock {
  // Of each rank, the slots in which a micro-batch's four passes start: forwards of the stage on
  // the way down and up, backwards to the inputs up (the later stage's, which comes first) and
  // down. A slot is the time of a forward or of half a backward of a stage.
  std::vector<std::array<int, 4>> starts;
  int in_flight = 0;  // the most stages' activations that a rank may hold
  int ahead = 0;      // how many slots a forward may run before its own
};

// The slots of a rank's work for one micro-batch: two forwards and four halves of backwards.
constexpr int kPeriod = 6;

// Repeats `block`, with each pass moved to the first slot that is free when its input is there: the
// one whose own slot comes first. A forward needs room, too: a stage holds at most what the block
// repeated as it is makes it hold. Gradients of weights fill the slots between. Throws what
// CheckVShape throws.
Schedule RepeatBlock(const char* name, const PipelineSize& size, const BuildingBlock& block);

}  // namespace torus::parallel
