// The measurement shared by the questions on time: the second epoch of a run with a given batch per
// rank and number of ranks. The first epoch warms up caches, allocators and clocks.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/labs/questions/lab_form.h"
#include "tools/labs/questions/lab_run.h"
#include "tools/labs/questions/step_times.h"

namespace torus::labs {

struct ScalingRun {
  int64_t batch = 0, ranks = 1;  // batch: per rank
  Epoch epoch;                   // the second, without its events
  StepTimes times;               // from its trace; zeros unless traced
  double gradient_bytes = 0;     // S: of the gradients that are all-reduced in a step
  double sent_bytes = 0;         // for them, by a rank in a step; counted, mean over the ranks
};

// The number of training images that every run of the lab uses: as many as asked for, rounded down
// to a multiple of LargestBatch. Throws BadInput if that leaves none.
int64_t CommonImages(const LabOptions& options, int64_t largest_batch);
// The largest batch of one step, over all ranks.
int64_t LargestBatch(const LabOptions& options);

// Measures it and tells its line.
ScalingRun MeasureSecondEpoch(const LabOptions& options, int64_t images, int64_t batch,
                              int64_t ranks, bool traces, const Tell& tell);
// "batch 32 a rank, 2 ranks: 3.20 s, 1280 images/s".
std::string LineOf(const ScalingRun& run);
// For KeptRuns: all on which a run depends, and what it has measured.
nlohmann::json KeyOf(const LabOptions& options, int64_t images, int64_t batch, int64_t ranks,
                     bool traces);
nlohmann::json ToJson(const ScalingRun& run);
ScalingRun ScalingRunFromJson(const nlohmann::json& json);
// Measures each of options.batches (outer loop) on each of RanksWithOne(options), and keeps each
// until the question has its page.
std::vector<ScalingRun> MeasureAll(const LabOptions& options, bool traces, const Tell& tell);
// The run with this batch and number of ranks. Throws BadInput if it was not measured.
const ScalingRun& RunOf(const std::vector<ScalingRun>& runs, int64_t batch, int64_t ranks);
// options.ranks, with 1 added in front if it is missing.
std::vector<int64_t> RanksWithOne(const LabOptions& options);
// The run with the first batch and the largest number of ranks. The pages put its numbers into
// their formulas.
const ScalingRun& Example(const std::vector<ScalingRun>& runs, const LabOptions& options);

}  // namespace torus::labs
