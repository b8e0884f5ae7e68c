// What a person reads when a run begins.
#pragma once

#include <string>
#include <vector>

#include "recipes/blocks/cut_choice.h"
#include "recipes/run/task.h"

namespace torus::recipes {

// Sizes of the data, layout, measured times of the layers and what they let expect, and what of the
// initial weights was new or left over: a few lines.
std::vector<std::string> RunHead(const Task& task, const CutChoice& cuts);

}  // namespace torus::recipes
