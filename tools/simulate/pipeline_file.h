// Reads a pipeline to simulate from a JSON file or from the trace of a run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parallel/schedule/comparison.h"

namespace torus::tools {

// Defaults of flags and files; all other costs default to 0.
inline constexpr int kDefaultMicroBatches = 8;
inline constexpr double kDefaultForward = 1, kDefaultBackward = 2;  // seconds

// One JSON object; every key but "ranks" may be missing:
//   {"ranks": 4, "micro-batches": 8, "chunks": 2, "backward-input-share": 0.5,
//    "forward": 0.1, "backward": [0.2, 0.2, 0.2, 0.3], "reduce": 0, "step": 0,
//    "boundary": 16777216, "encode": 0, "decode": 0, "state": 4e9, "activations": 1e9,
//    "links": ["1ms,5Gbps", "0-1:10ms,1Gbps,window=64KB"]}
// Costs are per rank, in seconds or in bytes (the flags take MiB): one number for all ranks, or a
// list with one for each. Throws BadInput, naming file and key, for anything else.
parallel::Pipeline ReadPipeline(const std::string& path);
// The same from a JSON object, or from its value "links". `path` is the file, for errors.
parallel::Pipeline PipelineOf(const nlohmann::json& json, const std::string& path);
parallel::LinkTable LinksOf(const nlohmann::json& value, const std::string& path);

// Throws BadInput if ranks x chunks x micro-batches exceeds 2^20, the limit of a simulation's
// memory.
void CheckSize(const parallel::Pipeline& pipeline);

// Sets the forward and backward times of `pipeline` to the medians over steps and micro-batches in
// a trace.json. All that a rank does for a micro-batch counts together, over all its stages and
// halves of backwards. Throws BadInput if the trace has other ranks than `pipeline`, or no times of
// one of them.
void FitTimes(const std::string& path, parallel::Pipeline& pipeline);

}  // namespace torus::tools
