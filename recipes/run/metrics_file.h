// metrics.jsonl: one line with a JSON object for each step and each evaluation.
//   {"kind": "train", "step": 12, "epoch": 0.051, "loss": 1.7, "lr": 0.013, "samples": 256,
//    "seconds": 0.25, "samples_per_second": 1012.3, "live_bytes": 21954560}
// A step that was skipped because it was not finite has "skipped": true; a loss that is not finite
// is null.
//   {"kind": "test", "step": 235, "epoch": 1.0, "loss": 0.52, "accuracy": 0.81, "samples": 10000}
// `step` is the number of mini-batches done.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/io/file.h"

namespace torus::recipes {

class MetricsFile {
 public:
  // If the file exists already, keeps its complete lines up to `step` and removes later ones, whose
  // steps are repeated. Throws BrokenEnvironment if the file cannot be written.
  MetricsFile(std::string path, int64_t step);

  // Writes the line at once.
  void Add(const nlohmann::json& line);
  const std::vector<nlohmann::json>& lines() const { return lines_; }
  // Whether there is a line of an evaluation after step `step`.
  bool HasTest(int64_t step) const;

 private:
  std::vector<nlohmann::json> lines_;
  std::unique_ptr<io::OutputFile> file_;
};

}  // namespace torus::recipes
