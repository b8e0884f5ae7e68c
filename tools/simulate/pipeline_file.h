// A pipeline to simulate, from a JSON file or from the trace of a run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parallel/schedule/comparison.h"

namespace torus::tools {

// What flags and files mean where they say nothing; all other costs are 0.
inline constexpr int kDefaultMicroBatches = 8;
inline constexpr double kDefaultForward = 1, kDefaultBackward = 2;  // seconds

// One JSON object; every key but "ranks" may be missing:
//   {"ranks": 4, "micro-batches": 8, "chunks": 2, "backward-input-share": 0.5,
//    "forward": 0.1, "backward": [0.2, 0.2, 0.2, 0.3], "reduce": 0, "step": 0,
//    "boundary": 16777216, "encode": 0, "decode": 0, "state": 4e9, "activations": 1e9,
//    "links": ["1ms,5Gbps", "0-1:10ms,1Gbps,window=64KB"]}
// Seconds and bytes (where the flags have MiB) of each rank: a number for all or a list with one
// for each. BadInput naming file and key for anything else.
parallel::Pipeline ReadPipeline(const std::string& path);
// The same of an object, or of its value of "links", in the file `path`.
parallel::Pipeline PipelineOf(const nlohmann::json& json, const std::string& path);
parallel::LinkTable LinksOf(const nlohmann::json& value, const std::string& path);

// BadInput where ranks x chunks x micro-batches are more than a simulation has memory for: 2^20.
void CheckSize(const parallel::Pipeline& pipeline);

// Sets the forward and backward times of `pipeline` to the medians over steps and micro-batches in
// a trace.json of as many ranks; what a rank does for a micro-batch counts as one, in however many
// stages or halves. BadInput where a rank has none, and for other ranks.
void FitTimes(const std::string& path, parallel::Pipeline& pipeline);

}  // namespace torus::tools
