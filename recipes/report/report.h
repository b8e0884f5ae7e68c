// report.html: one self-contained page that shows a run.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parallel/schedule/schedule.h"
#include "runtime/trace.h"

namespace torus::recipes {

struct ReportInput {
  nlohmann::json summary;                      // the contents of summary.json
  std::vector<nlohmann::json> metrics;         // the lines of metrics.jsonl
  std::vector<trace::Event> events;            // of a few steps
  std::optional<parallel::Schedule> schedule;  // none: the page has no ideal timeline
};

// The page's HTML. It needs no other file and no network.
std::string RenderReport(const ReportInput& input);

}  // namespace torus::recipes
