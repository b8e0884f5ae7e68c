// report.html: one self-contained page about a run, for the eye.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parallel/schedule/schedule.h"
#include "runtime/trace.h"

namespace torus::recipes {

struct ReportInput {
  nlohmann::json summary;               // as summary.json has it
  std::vector<nlohmann::json> metrics;  // the lines of metrics.jsonl
  std::vector<trace::Event> events;     // of a few steps
  parallel::Schedule schedule;
};

// The page's HTML: nothing else is needed to look at it, no network either.
std::string RenderReport(const ReportInput& input);

}  // namespace torus::recipes
