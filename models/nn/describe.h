// Describes a model's layers: the table of --describe, and the static costs that balance a cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nn/cost.h"
#include "models/nn/sequential.h"

namespace torus::nn {

// A row of the table of a model.
struct LayerSummary {
  int index = 0;           // the number that --cut takes: a cut at i is before layer i
  std::string name;        // or the title, where names are shared
  int64_t parameters = 0;  // elements
  LayerCost cost;          // of a forward
};

// Summarizes each layer for a forward of `inputs`, which are on the meta device. The model may have
// memory or not.
std::vector<LayerSummary> Describe(const Sequential& model, std::vector<Variable> inputs);

// Relative time of a layer on a CPU, forward and backward together. Arithmetic and memory traffic
// add, because no layer overlaps the two for long. One byte of activation counts as eight
// floating-point operations of the forward. A least-squares fit (of relative errors) to the layers
// of MobileNetV2 at 32, 96 and 224 pixels, on one AVX2 thread, gives 7.4 and is off by 8 to 20 %
// per layer; adding a fixed time per layer or per parameter does not improve it.
// //tools/train:measure_blocks prints measured and computed times.
double StaticCost(const LayerCost& cost);

// Formats a table with one row per layer and a row of sums, in MiB and MFLOP.
std::string ToTable(const std::vector<LayerSummary>& layers);

}  // namespace torus::nn
