// Question 6: what ranks send besides gradients.
#pragma once

#include <map>

#include "tools/labs/questions/byte_counter.h"
#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

// What all ranks of a run sent: before the first step (set_up), in an epoch, and in an evaluation.
struct WireCounts {
  int64_t ranks = 0, steps = 0;
  int64_t parameters = 0, tensors = 0, buffers = 0;  // elements; parameter tensors; buffers' bytes
  std::map<Cargo, Sent> set_up, epoch, evaluation;
};

WireCounts CountWire(const LabOptions& o, const Tell& tell);

// Closed formulas for the bytes of all ranks together. In a step, a ring all-reduce sends 2 (n - 1)
// times the f32 gradients and one flag per parameter tensor. A broadcast sends its data n - 1
// times.
uint64_t ExpectedGradients(const WireCounts& counts);  // in the epoch
uint64_t ExpectedWeights(const WireCounts& counts);    // before the first step
uint64_t ExpectedBuffers(const WireCounts& counts);    // each time: before step 0, after the epoch

Lab WireContentsLab();

}  // namespace torus::labs
