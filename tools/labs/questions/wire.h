// Question 6: what crosses the wire besides gradients.
#pragma once

#include <map>

#include "tools/labs/questions/byte_counter.h"
#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

// What all ranks of a run sent: before its first step, and in an epoch.
struct WireCounts {
  int64_t ranks = 0, steps = 0;
  int64_t parameters = 0, tensors = 0, buffers = 0;  // elements; parameter tensors; buffers' bytes
  std::map<Cargo, Sent> set_up, epoch, evaluation;
};

WireCounts CountWire(const LabOptions& o, const Tell& tell);

// The closed forms, of all ranks together in bytes: a ring all-reduce of the f32 gradients and of a
// flag for each parameter tensor sends 2 (n - 1) of them in a step; a broadcast n - 1.
uint64_t ExpectedGradients(const WireCounts& counts);  // of the epoch
uint64_t ExpectedWeights(const WireCounts& counts);    // before the first step
uint64_t ExpectedBuffers(const WireCounts& counts);    // each time: then, and at the epoch's end

Lab WireContentsLab();

}  // namespace torus::labs
