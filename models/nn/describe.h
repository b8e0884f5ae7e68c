// What a model's layers are: the table behind --describe, and the static costs behind a balanced
// cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nn/cost.h"
#include "models/nn/sequential.h"

namespace torus::nn {

struct LayerSummary {
  int index = 0;  // the number that --cut takes: a cut at i lies before layer i
  std::string name;
  int64_t parameters = 0;  // elements
  LayerCost cost;          // of a forward
};

// One a layer, for a forward of `inputs`, which are on meta; the model may have memory or not.
std::vector<LayerSummary> Describe(const Sequential& model, std::vector<Variable> inputs);

// Relative time of a layer on a CPU, forward and backward together: arithmetic and memory traffic,
// added, because no layer overlaps the two for long. One byte of activation counts as eight
// floating-point operations of the forward: a least-squares fit (of relative errors) to the layers
// of MobileNetV2 at 32, 96 and 224 pixels, on one AVX2 thread, says 7.4 and is off by 8 to 20 % a
// layer; neither a fixed time a layer nor one for its parameters betters it.
// //tools/train:measure_blocks prints both sides.
double StaticCost(const LayerCost& cost);

// The table with a row a layer and a row of sums, sizes in MiB and MFLOP.
std::string ToTable(const std::vector<LayerSummary>& layers);

}  // namespace torus::nn
