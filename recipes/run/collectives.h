// Chooses the all-reduce that --collectives stands for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// "auto" and the names in AllReduceDescriptions(), each with a short description.
std::vector<std::pair<std::string, std::string>> CollectivesDescriptions();
std::vector<std::string> CollectivesNames();

// The one of AllReduceNames() that a run uses. `by_nccl`: NCCL moves GPU memory, and no emulated
// link is in between.
std::string CollectivesOf(const Settings& settings, bool by_nccl);

}  // namespace torus::recipes
