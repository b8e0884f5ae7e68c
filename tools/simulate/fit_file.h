// Measured runs of one pipeline on several networks, from a JSON file: some to fit free costs to,
// the others to predict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/schedule/comparison.h"
#include "parallel/schedule/fit.h"

namespace torus::tools {

struct FitRow {
  std::string name;  // as the file writes its links
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
// "pipeline" as pipeline_file.h has it. Each entry of "free" names costs that are scaled by a
// factor of their own. The "bytes" of a rank's weights are one number for all ranks, or a list with
// one for each. A row's links are those of the whole pipeline; the server is the rank behind
// the last, central_server.h says what it does. "schedule" and "server" may be missing. BadInput
// naming file and key for anything else.
FitFile ReadFitFile(const std::string& path);

// Fits, predicts every row, and says what came: a line a row, and one of the fitted costs.
std::string ToTable(const FitFile& file);

}  // namespace torus::tools
