// The folder that a run leaves, and how its files are called.
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
  // For --init and evaluate, of a run with --ema that leaves no model().
  std::string averaged_weights() const { return path + "/averaged_weights.safetensors"; }
  std::string summary() const { return path + "/summary.json"; }
  std::string metrics() const { return path + "/metrics.jsonl"; }
  // The examples that the readers left out, a line each; no file where there are none.
  std::string left_out() const { return path + "/left_out.txt"; }
  std::string schedule() const { return path + "/schedule.csv"; }  // parallel/schedule/csv.h
  std::string trace() const { return path + "/trace.json"; }
  std::string report() const { return path + "/report.html"; }
};

// A folder belongs to one run: nobody else trains in it while this lives.
struct OwnRunFolder {
  RunFolder folder;
  std::unique_ptr<io::FileLock> lock;
};

// Makes the folder, with those above it. BadInput when it holds a checkpoint already, since a run
// is not written over, or while another run has it, naming that one's process; BrokenEnvironment
// when it cannot be made.
OwnRunFolder NewRunFolder(const std::string& path);

// RUNS/MODEL-DATA-DATE-TIME, or the first of -2, -3, ... behind it that nobody has made yet.
OwnRunFolder NewRunFolder(const std::string& runs, const Settings& settings);

// One that is there, to go on with its run. BadInput as above.
OwnRunFolder TakeRunFolder(const RunFolder& folder);

// The run to resume, from its own folder or that of one of its checkpoints. BadInput when `path` is
// neither.
RunFolder ExistingRunFolder(const std::string& path);

}  // namespace torus::recipes
