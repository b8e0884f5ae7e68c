// What a run prints first.
#pragma once

#include <string>
#include <vector>

#include "recipes/blocks/cut_choice.h"
#include "recipes/run/task.h"

namespace torus::recipes {

// A few lines: sizes of the data, layout, measured times of the layers and the prediction from
// them, and which initial weights were new or left over.
std::vector<std::string> RunHead(const Task& task, const CutChoice& cuts);

}  // namespace torus::recipes
