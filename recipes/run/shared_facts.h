// What all processes of a run must have been told alike, besides what the trainer compares itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recipes/data/task_data.h"
#include "recipes/run/run.h"

namespace torus::recipes {

// Each setting by its flag, but for the paths of data and vocabulary, which may differ between
// hosts; the limits and intervals of the run; and of the data the number of examples and their
// order, so that copies of a data set that differ are found.
std::vector<std::pair<std::string, std::string>> SharedFacts(const RunOptions& options,
                                                             const Settings& completed,
                                                             const TaskData& data);

}  // namespace torus::recipes
