#pragma once

#include "recipes/run/run.h"

namespace torus::recipes::testing {

// What makes the run that `options` began go on in its own folder.
inline RunOptions Resumed(RunOptions options) {
  options.resume = options.out;
  options.out = "";
  return options;
}

}  // namespace torus::recipes::testing
