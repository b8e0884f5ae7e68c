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

// For a run with settings `before` that goes on at `step` with more epochs: a line if that changes
// its learning rate, else empty.
std::string NewRateLine(const Task& task, const Settings& before, int64_t step);

}  // namespace torus::recipes
