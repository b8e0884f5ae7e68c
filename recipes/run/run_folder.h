// The folder that a run leaves, and how its files are called.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

struct RunFolder {
  std::string path;
  std::string checkpoint() const { return path + "/checkpoint"; }
  std::string model() const { return path + "/model"; }  // for generate and evaluate
  // For --init and evaluate, of a run with --ema that leaves no model().
  std::string averaged_weights() const { return path + "/averaged_weights.safetensors"; }
  std::string summary() const { return path + "/summary.json"; }
  std::string metrics() const { return path + "/metrics.jsonl"; }
  std::string trace() const { return path + "/trace.json"; }
  std::string report() const { return path + "/report.html"; }
};

// "runs/MODEL-DATA-DATE-TIME", now.
std::string DefaultRunPath(const Settings& settings);

// Makes the folder, with those above it. BadInput when it holds a checkpoint already: a run is not
// written over; BrokenEnvironment when it cannot be made.
RunFolder NewRunFolder(const std::string& path);

// The run to resume, from its own folder or its checkpoint folder. BadInput when `path` is neither.
RunFolder ExistingRunFolder(const std::string& path);

}  // namespace torus::recipes
