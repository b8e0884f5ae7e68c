// What a training would take on a machine that is not here: cuts, memory and time of a step, from
// shapes alone.
#pragma once

#include <string>
#include <vector>

#include "recipes/data/data_form.h"
#include "tools/experiments/common/training.h"

namespace torus::experiments {

// One rank's, and the network between replicas.
struct Machine {
  std::string name;
  double flops = 0;    // operations a second, as products reach them
  double memory = 0;   // bytes a second
  double network = 0;  // bytes a second between replicas
};

// A V100 (NVIDIA 2017, "Tesla V100 GPU architecture": 15.7 TFLOP/s in f32, of which half is taken
// to be reached; 900 GB/s), 10 Gbps between machines.
Machine V100();
// One of two cores: 80 GFLOP/s in products, 10 GB/s, replicas through the same memory.
Machine Core();

struct Forecast {
  std::vector<int> cuts;
  double parameters = 0;           // of the model
  std::vector<double> rank_bytes;  // of each rank of a pipeline, activations at their most
  double step_seconds = 0;
  double bubble = 0;
  double boundary_bytes = 0;  // of a micro-batch over all cuts, forward, with each cut's codec
};

// A layer takes flops / rate + 2 x activations / memory forward, twice that backward; replicas'
// gradients 2 (R - 1) / R times their bytes over the network, behind the backward; the optimizer
// reads and writes its state; both once a step, whatever --accumulate. The gradients that cross a
// cut are taken to be as large as what they are of: --codec-backward is not looked at. Tensor ranks
// share out operations and weights; their all-reduces take no time here, and each sends all of what
// crosses a cut. BadInput for settings that a run would refuse.
Forecast ForecastOf(const Training& training, const recipes::DataForm& form,
                    const Machine& machine);

}  // namespace torus::experiments
