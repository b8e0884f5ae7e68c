// Applies flags to settings.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// Sets what `flags` say, such as "--lr 0.1 --no-nesterov". Throws BadInput if a flag is not a
// setting, or if a value is missing or malformed. Ranges are checked later (check_options.h).
void ApplyFlags(const std::string& flags, Settings& settings);

}  // namespace torus::recipes
