// Forecasts a training on another machine: cuts, memory and time of a step, from shapes alone.
#pragma once

#include <string>
#include <vector>

#include "recipes/data/data_form.h"
#include "tools/experiments/common/training.h"

namespace torus::experiments {

// The machine of one rank, and the network between replicas.
struct Machine {
  std::string name;
  double flops = 0;    // operations per second that matrix products reach
  double memory = 0;   // bytes per second
  double network = 0;  // bytes per second between replicas
};

// A V100 (NVIDIA 2017, "Tesla V100 GPU architecture": 15.7 TFLOP/s in f32, of which half is assumed
// to be reached; 900 GB/s), with 10 Gbps between machines.
Machine V100();
// One of two cores: 80 GFLOP/s in matrix products, 10 GB/s; replicas communicate through the same
// memory.
Machine Core();

struct Forecast {
  std::vector<int> cuts;
  double parameters = 0;           // of the model
  std::vector<double> rank_bytes;  // of each rank of a pipeline, with the peak of activations
  double step_seconds = 0;
  double bubble = 0;
  double boundary_bytes = 0;  // per micro-batch, over all cuts, forward, with each cut's codec
};

// The model: a layer takes flops / rate + 2 x activations / memory forward, and twice that
// backward. After the backward, the gradients of R replicas move 2 (R - 1) / R times their bytes
// over the network, and the optimizer reads and writes its state; both happen once per step,
// regardless of --accumulate. Gradients that cross a cut are taken to be as large as the
// activations: --codec-backward is ignored. Tensor ranks divide operations and weights among
// themselves; their all-reduces take no time here, and each sends all of what crosses a cut. Throws
// BadInput for settings that a run would refuse.
Forecast ForecastOf(const Training& training, const recipes::DataForm& form,
                    const Machine& machine);

}  // namespace torus::experiments
