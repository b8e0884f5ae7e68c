// The summary of a run that was a library call, which hands it out as text.
#pragma once

#include <nlohmann/json.hpp>

#include "recipes/run/run.h"

namespace torus::recipes::testing {

inline nlohmann::json SummaryOf(const RunResult& result) {
  return nlohmann::json::parse(result.summary);
}

}  // namespace torus::recipes::testing
