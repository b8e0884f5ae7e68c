// What a GPT-3 XL iteration takes on machines of eight V100s, by Megatron's parallelism.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::experiments {

struct BaselineRow {
  bool gpipe = false;  // PyTorch Pipe; else Megatron's 1F1B
  int machines = 1;
  double element = 4;     // bytes: f32, or 2 of f16
  bool recompute = true;  // every layer's forward again before its backward
  int batch = 0, micro_batch = 1;
  int tensor = 1, pipeline = 1, data = 1;
  double published = 0;  // seconds an iteration
};

// The two numbers that are fitted.
struct FittedMachine {
  double rate = 10e12;   // f32 operations a second that products reach
  double network = 2e9;  // bytes a second of a machine's link, in each direction
};

// The rest is the V100's data sheet: f16 products 125 / 15.7 times as fast as f32 ones, memory 900
// GB/s, a link to a neighbour 25 GB/s, all six of them together 150.
//
// A layer of width h on s tokens: 24 s h^2 + 4 s^2 h operations, shared by the T tensor ranks; 8
// passes over the scores and 24 over activations, shared too, and 12 that every rank makes; two
// all-reduces of b s h elements forward and two backward, each 2 (T - 1) / T of their bytes over a
// ring. A backward is two forwards, and one more with recompute, its all-reduces too. Gradients of
// D replicas: 2 (D - 1) / D of the stage's bytes over a ring, behind the last backward. Ranks lie
// in Megatron's order, tensor first, then data, then pipeline, eight a machine; what crosses
// machines shares the machine's link. Embeddings and the head are left out.
double SecondsOf(const BaselineRow& row, const FittedMachine& machine);

// Of all ring edges between the replicas of one stage, or of all messages to the next stage: how
// many leave one machine, of the machine that has most.
int ReplicaEdges(const BaselineRow& row);
int StageEdges(const BaselineRow& row);

// Least squares of the logarithm of simulated over published seconds: the best of a coarse grid,
// then steps to its neighbours that halve.
FittedMachine FitMachine(const std::vector<BaselineRow>& rows);

}  // namespace torus::experiments
