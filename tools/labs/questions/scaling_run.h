// The measurement that the questions on time share: the second epoch at a batch a rank and a number
// of ranks, the first having warmed up caches, allocators and clocks.
#pragma once

#include <cstdint>

#include "tools/labs/questions/lab_form.h"
#include "tools/labs/questions/lab_run.h"
#include "tools/labs/questions/step_times.h"

namespace torus::labs {

struct ScalingRun {
  int64_t batch = 0, ranks = 1;  // batch: of a rank
  Epoch epoch;                   // the second, without its events
  StepTimes times;               // of its trace; zeros unless traced
  double gradient_bytes = 0;     // S: of the gradients that are all-reduced in a step
  double sent_bytes = 0;  // by a rank in a step for them; the mean over the ranks, as counted
};

// Training images that every run of the lab takes whole: as many as asked for, less what does not
// fill the largest batch of the most ranks. BadInput where that leaves none.
int64_t CommonImages(const LabOptions& options, int64_t largest_batch);
// The largest batch of one step: of all ranks.
int64_t LargestBatch(const LabOptions& options);

ScalingRun MeasureSecondEpoch(const LabOptions& options, int64_t images, int64_t batch,
                              int64_t ranks, bool traces, const Tell& tell);
// Each of options.ranks with each of options.batches, one rank always among them; batches outer.
std::vector<ScalingRun> MeasureAll(const LabOptions& options, bool traces, const Tell& tell);
// BadInput where it was not measured.
const ScalingRun& RunOf(const std::vector<ScalingRun>& runs, int64_t batch, int64_t ranks);
// options.ranks, with 1 in front where it is not among them.
std::vector<int64_t> RanksWithOne(const LabOptions& options);
// The first batch and the largest number of ranks, whose figures the pages' formulae take.
const ScalingRun& Example(const std::vector<ScalingRun>& runs, const LabOptions& options);

}  // namespace torus::labs
