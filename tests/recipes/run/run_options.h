// Options of small runs on images.
#pragma once

#include <filesystem>
#include <string>

#include "tests/recipes/run/image_run.h"
#include "tests/recipes/run/resumed.h"

namespace torus::recipes::testing {

// Two epochs of 4 steps.
inline RunOptions Options(const std::string& out) {
  RunOptions options{.settings = SmallSettings(2, 1, 2), .out = ::testing::TempDir() + "/" + out};
  options.settings.epochs = 2;
  std::filesystem::remove_all(options.out);
  return options;
}

}  // namespace torus::recipes::testing
