// Where the run's model is cut, and the measurement behind `--cut auto`.
#pragma once

#include "tools/train/cut_choice.h"
#include "tools/train/data_form.h"

namespace torus::tools {

// BadInput when the model has too few layers for the stages. Only `--cut auto` builds the model.
CutChoice ChooseCuts(const Settings& settings, const DataForm& form);

}  // namespace torus::tools
