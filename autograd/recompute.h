// Recompute: trades a second forward for the memory of the first one's graph (gradient
// checkpointing: Chen, Xu, Zhang and Guestrin 2016, "Training deep nets with sublinear memory
// cost", section 4.2).
#pragma once

#include <functional>
#include <vector>

#include "autograd/variable.h"

namespace torus {

using RecomputeFn = std::function<std::vector<Variable>(const std::vector<Variable>& inputs)>;

// Outputs of function(inputs), with gradients. The first run records no graph; of it only `inputs`
// and the outputs are kept. A backward runs the function again on the same inputs and goes back
// through the graph of that run, which it frees at once.
//
// `parameters`: every leaf that requires a gradient and that the function reads besides its inputs
// (BadInput in the backward when one was left out). Outputs must be defined.
//
// The gradients have the bits that the function's own graph would give, if the function gives the
// same bits each time: what it draws at random must be keyed by what it captured (StepContext), and
// what it counts must count a second run on the same inputs once. A backward in two halves
// (BackwardOptions::defer_leaves) runs it in each half. Where no gradient is recorded, this is
// function(inputs).
std::vector<Variable> Recompute(RecomputeFn function, const std::vector<Variable>& inputs,
                                const std::vector<Variable>& parameters);

// Whether the calling thread is in such a first run. An op that computes in another way where no
// gradient is recorded, with other bits, must not do so here.
bool InFirstRun();

}  // namespace torus
