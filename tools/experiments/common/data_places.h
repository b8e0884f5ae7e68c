// Where an experiment's data lie below the data folder.
#pragma once

#include <optional>
#include <string>

#include "tools/experiments/common/training.h"

namespace torus::experiments {

// Fills in data_dir, vocab_dir and init of the training's settings. A reason, naming what is not
// there, where the data or the weights are not at hand.
std::optional<std::string> FindData(const std::string& data, Training& training);

}  // namespace torus::experiments
