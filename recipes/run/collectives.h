// What --collectives comes to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// "auto", and those of AllReduceDescriptions(); each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> CollectivesDescriptions();
std::vector<std::string> CollectivesNames();

// The one of AllReduceNames() that a run takes; `by_nccl`: NCCL moves its GPUs' memory, and no
// emulated link lies over it.
std::string CollectivesOf(const Settings& settings, bool by_nccl);

}  // namespace torus::recipes
