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

// Relative time of a layer on a CPU, forward and backward together: arithmetic and memory traffic, added, because no layer
// overlaps the two for long. One byte of activation counts as 128 floating-point operations of the forward; with that the
// two stages of MobileNetV2 at 32 x 32 are cut where measured times cut them on two AVX2 cores (before layer 4).
double StaticCost(const LayerCost& cost);

// The table with a row a layer and a row of sums, sizes in MiB and MFLOP.
std::string ToTable(const std::vector<LayerSummary>& layers);

}  // namespace torus::nn
