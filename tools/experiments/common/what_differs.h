// The last part of an experiment's page.
#pragma once

#include <string>

#include "recipes/study/page.h"
#include "tools/experiments/common/options.h"

namespace torus::experiments {

// In what our runs differ from the published ones: a text for each scale that has results.
struct Differences {
  std::string laptop, paper;
};

// Adds them under a heading of their own. At the scale tiny the text says that no figure counts.
void AddWhatDiffers(Scale scale, const Differences& differences, study::Page& page);

}  // namespace torus::experiments
