// Reads measured runs of one pipeline on several networks from a JSON file. Costs are fitted to
// some of them, and the others are predicted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parallel/schedule/comparison.h"
#include "parallel/schedule/fit.h"

namespace torus::tools {

struct FitRow {
  std::string name;  // its links, as written in the file
  parallel::LinkTable links;
  std::optional<double> seconds;  // measured
  bool fit = false;               // whether costs are fitted to it; needs seconds
};

struct FitFile {
  parallel::Pipeline pipeline;
  std::string schedule = "gpipe";
  std::vector<parallel::FreeCosts> free;
  std::vector<FitRow> rows;
  int replicas = 0;                  // under a central parameter server; 0: none is predicted
  std::vector<double> server_bytes;  // of each rank's weights
};

// One JSON object:
//   {"pipeline": {...}, "schedule": "gpipe", "free": [["forward", "backward"]],
//    "server": {"replicas": 4, "bytes": 4e8},
//    "rows": [{"links": "1ms,5Gbps", "seconds": 15.49, "fit": true}, {"links": "5ms,2Gbps"}]}
// "pipeline" is as in pipeline_file.h. The costs in one entry of "free" are scaled by a common
// factor, which is fitted. "bytes" are those of a rank's weights: one number for all ranks, or a
// list with one for each. A row's links are those of the whole pipeline. The server's rank comes
// after the last one; central_server.h says what it does. "schedule" and "server" are optional.
// Throws BadInput, naming file and key, for anything else.
FitFile ReadFitFile(const std::string& path);

// What the fitted costs predict of each row of the file, in its order.
struct FitPrediction {
  parallel::CostModel costs;
  std::vector<double> seconds;
  std::vector<double> with_server;  // empty if none is predicted
};
FitPrediction Predict(const FitFile& file);

// One line per row and one with the fitted costs.
std::string ToTable(const FitFile& file, const FitPrediction& prediction);
// {"rows": [{"links": ..., "measured": ..., "predicted": ..., "with_server": ...}, ...],
//  "costs": {"forward": [...], ...}}: seconds, and the fitted costs of each stage, in seconds or
// bytes. "measured" and "with_server" only where there are such.
nlohmann::json ToJson(const FitFile& file, const FitPrediction& prediction);

}  // namespace torus::tools
