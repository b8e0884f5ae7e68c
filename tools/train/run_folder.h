// The folder that a run leaves, and how its files are called.
#pragma once

#include <string>

namespace torus::tools {

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

// `out`, or runs/NAME-DATE-TIME where it is empty, made with the folders above. BadInput when it
// holds a checkpoint already: a run is not written over; BrokenEnvironment when it cannot be made.
RunFolder NewRunFolder(const std::string& out, const std::string& name);

// The run to resume, from its own folder or its checkpoint folder. BadInput when `path` is neither.
RunFolder ExistingRunFolder(const std::string& path);

}  // namespace torus::tools
