// Cuts a list of blocks into stages.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "parallel/pipeline/stage.h"

namespace torus::parallel {

// cuts[i] is the first block of stage i + 1: {1, 18} over 20 blocks gives stages [0, 1), [1, 18),
// [18, 20).
using Cuts = std::vector<int>;

// Throws BadInput unless the cuts ascend strictly within 1..num_blocks-1.
void CheckCuts(const Cuts& cuts, int num_blocks);

// Parses cuts such as "1,18". Throws BadInput for anything but numbers and commas. Empty text gives
// no cuts.
Cuts ParseCuts(std::string_view text);

// The cuts that make the most costly stage as cheap as possible: the linear partition problem,
// solved exactly by dynamic programming (Skiena, The Algorithm Design Manual, section 10.7),
// O(stages * blocks^2). Of equally good cuts it takes the earliest, so that the same costs give the
// same cuts on every machine. Throws BadInput if a cost is negative or not finite, or if there are
// more stages than blocks.
Cuts BalanceCuts(std::span<const double> costs, int stages);

// Makes the stages between the cuts, one more than there are cuts. Throws what CheckCuts throws.
std::vector<Stage> MakeStages(std::vector<Block> blocks, const Cuts& cuts);

}  // namespace torus::parallel
