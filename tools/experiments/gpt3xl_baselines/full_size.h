// Models the time of a GPT-3 XL iteration with Megatron's parallelism on machines of eight V100s.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::experiments {

struct BaselineRow {
  bool gpipe = false;  // PyTorch Pipe; else Megatron's 1F1B
  int machines = 1;
  double element = 4;     // bytes of a value: 4 for f32, 2 for f16
  bool recompute = true;  // every layer's forward runs again before its backward
  int batch = 0, micro_batch = 1;
  int tensor = 1, pipeline = 1, data = 1;
  double published = 0;  // seconds per iteration
};

// The two numbers that are fitted.
struct FittedMachine {
  double rate = 10e12;   // f32 operations per second that matrix products reach
  double network = 2e9;  // bytes per second of a machine's link, in each direction
};

// Everything else is from the V100's data sheet: f16 products are 125 / 15.7 times as fast as f32
// ones, memory has 900 GB/s, a link to a neighbour 25 GB/s, all six links together 150 GB/s.
//
// A layer of width h on s tokens takes 24 s h^2 + 4 s^2 h operations, divided among the T tensor
// ranks. It makes 8 passes over the attention scores and 24 over activations, which are divided
// too, and 12 over activations that every rank makes. It has two all-reduces of b s h elements
// forward and two backward, each moving 2 (T - 1) / T of their bytes over a ring. A backward costs
// two forwards, or three with recompute, which repeats the all-reduces as well. The gradients of D
// replicas move 2 (D - 1) / D of the stage's bytes over a ring, after the last backward. Ranks are
// in Megatron's order: tensor first, then data, then pipeline, eight per machine. Traffic between
// machines shares the machine's link. Embeddings and the head are left out.
double SecondsOf(const BaselineRow& row, const FittedMachine& machine);

// How many of the ring edges between the replicas of a stage (or of the messages to the next stage)
// leave a machine, for the machine that has the most.
int ReplicaEdges(const BaselineRow& row);
int StageEdges(const BaselineRow& row);

// Least squares of log(simulated / published seconds): takes the best point of a coarse grid, then
// moves to better neighbours with steps that are halved.
FittedMachine FitMachine(const std::vector<BaselineRow>& rows);

}  // namespace torus::experiments
