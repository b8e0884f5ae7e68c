// What a model's layers are: the table behind --describe, and the static costs behind a balanced cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nn/sequential.h"

namespace torus::nn {

struct LayerSummary {
  int index = 0;  // the number that --cut takes: a cut at i lies before layer i
  std::string name;
  int64_t parameters = 0;  // elements
  LayerCost cost;          // of a forward
};

// One a layer, for inputs of shape `input`.
std::vector<LayerSummary> Describe(const Sequential& model, const Shape& input);

// Relative time of a layer on a CPU, forward and backward together: arithmetic and memory traffic of a roofline (Williams et al.
// 2009) whose two terms add, because the layers of each kind alternate. One byte of activation counts as 64
// multiply-adds: it is moved about eight times in a step (written, read and normalized, both again as gradients, and read for two
// convolution gradients), and the machines seen do 8 multiply-adds in the time of a byte, three passes of them a step.
double StaticCost(const LayerCost& cost);

// The table with a row a layer and a row of sums, sizes in MiB and MFLOP.
std::string ToTable(const std::vector<LayerSummary>& layers);

}  // namespace torus::nn
