// Where the run's model is cut, and what is known of the cut before step 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/schedule/factory.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/data/data_form.h"

namespace torus::recipes {

// What `--cut auto` looks at besides settings; RunOptions (run.h) explains the first three.
struct CutConditions {
  std::vector<std::string> links{};
  std::function<std::unique_ptr<parallel::Codec>()> codec{};
  parallel::ScheduleGenerator schedule{};
  std::vector<uint64_t> rank_memory{};  // most bytes of each rank of a pipeline; empty: no limits
};

// The cuts that are listed, or those that balance the static costs of the layers; for `--cut auto`
// those of BestCuts (parallel/schedule/best_cuts.h). Its costs are measured on a model built for
// that, or counted on the device meta (auto_cut.h): then a backward takes twice its forward, one
// byte of activation as long as nn::StaticCost says, every activation is kept unless it is
// recomputed, and codecs take no time. BadInput when the model has too few layers for the stages,
// and where no cut keeps the memory.
CutChoice ChooseCuts(const Settings& settings, const DataForm& form,
                     const CutConditions& conditions = {});

}  // namespace torus::recipes
