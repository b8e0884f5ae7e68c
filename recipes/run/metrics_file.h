// metrics.jsonl: one line with a JSON object for each step and each evaluation.
//   {"kind": "train", "step": 12, "epoch": 0.051, "loss": 1.7, "lr": 0.013, "samples": 256,
//    "seconds": 0.25, "samples_per_second": 1012.3, "live_bytes": 21954560}
// With --clip-norm or --gradient-norm a step has "gradient_norm", that before clipping. A step that
// was skipped because it was not finite has "skipped": true; a loss or norm that is not finite is
// null.
//   {"kind": "test", "step": 235, "epoch": 1.0, "loss": 0.52, "accuracy": 0.81, "samples": 10000}
// A line of the kind "validation" is like one of "test". `step` is the number of mini-batches done.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/io/file.h"

namespace torus::recipes {

// One thread adds lines, while any may read them: of a run whose rank is stuck, the report is
// written beside the thread that was left behind.
class MetricsFile {
 public:
  // The most lines of steps that are kept in memory.
  static constexpr size_t kMostSteps = 16384;

  // If the file exists already, keeps its complete lines up to `step` and removes later ones, whose
  // steps are repeated. The old file stays until the new one is complete: a kill leaves one of
  // them. Throws BrokenEnvironment if the file cannot be written.
  MetricsFile(const std::string& path, int64_t step);

  // Writes the line at once.
  void Add(const nlohmann::json& line);
  // The lines of all evaluations and of steps: of the last, and of all others or, if they are more
  // than kMostSteps, of every second, fourth, eighth, ... By step.
  std::vector<nlohmann::json> lines() const;
  // Whether there is a line of an evaluation of this kind after step `step`.
  bool HasEvaluation(const std::string& kind, int64_t step) const;
  // How many such lines there are after later steps than `step`.
  int64_t EvaluationsAfter(const std::string& kind, int64_t step) const;

 private:
  void Keep(const nlohmann::json& line);
  void Thin();

  mutable std::mutex mutex_;  // of the lines that are kept
  std::vector<nlohmann::json> evaluations_, steps_;
  nlohmann::json last_;                 // of the steps
  int64_t steps_seen_ = 0, every_ = 1;  // the steps that are kept
  std::unique_ptr<io::OutputFile> file_;
};

}  // namespace torus::recipes
