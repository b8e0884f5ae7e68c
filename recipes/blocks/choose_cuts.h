// Where the run's model is cut, and the measurement behind `--cut auto`.
#pragma once

#include "recipes/blocks/cut_choice.h"
#include "recipes/data/data_form.h"

namespace torus::recipes {

// BadInput when the model has too few layers for the stages. Only `--cut auto` builds the model.
CutChoice ChooseCuts(const Settings& settings, const DataForm& form);

}  // namespace torus::recipes
