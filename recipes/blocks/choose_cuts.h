// Chooses where the run's model is cut into stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/schedule/factory.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/data/data_form.h"

namespace torus::recipes {

// What `--cut auto` considers besides the settings. RunOptions (run.h) explains the first.
struct CutConditions {
  parallel::ScheduleGenerator schedule{};
  std::vector<uint64_t> rank_memory{};  // limit in bytes of each rank of a pipeline; empty: none
};

// Returns the cuts that the settings list. Without a list: the cuts that balance the static costs
// of the layers. For `--cut auto`: those of BestCuts (parallel/schedule/best_cuts.h). The costs for
// BestCuts are measured on a model built for that, or, with a rate (auto_cut.h), counted on the
// device meta: then a backward takes twice as long as its forward, one byte of activation as long
// as nn::StaticCost says, every activation is kept unless it is recomputed, and codecs take no
// time. Throws BadInput if the model has too few layers for the stages, or if no cut stays within
// rank_memory.
CutChoice ChooseCuts(const Settings& settings, const DataForm& form,
                     const CutConditions& conditions = {});

}  // namespace torus::recipes
