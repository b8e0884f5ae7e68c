// Settings changed as a command line would.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// Takes what `flags` say: "--lr 0.1 --no-nesterov". BadInput for a flag that is no setting, and for
// a value that is missing or malformed; values are checked later (check_options.h).
void ApplyFlags(const std::string& flags, Settings& settings);

}  // namespace torus::recipes
