// The folder of a run, and the names of its files.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "recipes/settings/settings.h"
#include "runtime/io/file_lock.h"

namespace torus::recipes {

struct RunFolder {
  std::string path;
  std::string checkpoint() const { return path + "/checkpoint"; }  // the newest
  std::string earlier(int64_t step) const { return fmt::format("{}/earlier/step-{}", path, step); }
  std::string best() const { return path + "/best"; }
  std::string model() const { return path + "/model"; }  // for generate and evaluate
  // For --init and evaluate. Written by a run with --ema that exports no model().
  std::string averaged_weights() const { return path + "/averaged_weights.safetensors"; }
  std::string summary() const { return path + "/summary.json"; }
  std::string metrics() const { return path + "/metrics.jsonl"; }
  // The examples that the readers left out, one line each; no file if there are none.
  std::string left_out() const { return path + "/left_out.txt"; }
  std::string schedule() const { return path + "/schedule.csv"; }  // parallel/schedule/csv.h
  std::string trace() const { return path + "/trace.json"; }
  // What a rank on a GPU takes of cuBLASLt's and cuDNN's proposals (plans_file.h).
  std::string plans(int rank) const { return fmt::format("{}/plans-{}.json", path, rank); }
  std::string report() const { return path + "/report.html"; }
};

// A locked run folder: no other run can train in it while this object lives.
struct OwnRunFolder {
  RunFolder folder;
  std::unique_ptr<io::FileLock> lock;
};

// Makes the folder and its parents. Throws BadInput if it holds a checkpoint already, since a run
// is never overwritten, or if another run has locked it (the message names that process);
// BrokenEnvironment if it cannot be made.
OwnRunFolder NewRunFolder(const std::string& path);

// Makes RUNS/MODEL-DATA-DATE-TIME. If that exists, appends the first of -2, -3, ... that does not
// exist.
OwnRunFolder NewRunFolder(const std::string& runs, const Settings& settings);

// Locks an existing folder, to continue its run. Throws BadInput as above.
OwnRunFolder TakeRunFolder(const RunFolder& folder);

// The folder of the run to resume; `path` is that folder or the folder of one of its checkpoints.
// Throws BadInput if it is neither.
RunFolder ExistingRunFolder(const std::string& path);

}  // namespace torus::recipes
