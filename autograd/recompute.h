// Recompute (gradient checkpointing): runs a function's forward again in the backward instead of
// keeping its graph in memory (Chen, Xu, Zhang and Guestrin 2016, "Training deep nets with
// sublinear memory cost", section 4.2).
#pragma once

#include <functional>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// A part of a model, from its inputs to its outputs. It must give the same when it runs again.
using RecomputeFn = std::function<std::vector<Variable>(const std::vector<Variable>& inputs)>;

// Returns function(inputs), with gradients. The first run records no graph and keeps only `inputs`
// and the outputs. The backward runs the function again on the same inputs, goes back through the
// graph of that run, and frees it at once.
//
// `parameters` must list every leaf that requires a gradient and that the function reads besides
// its inputs; the backward throws BadInput if one is missing. Outputs must be defined.
//
// The second run has the WithPrecision and the ActivationStorage of the first, wherever Backward is
// called. The gradients are bit-identical to those of the function's own graph, provided that the
// function gives the same bits each time: key random draws by captured values (StepContext), and
// update counters only once for both runs. A backward in two halves (BackwardOptions::defer_leaves)
// runs the function in each half. If no gradient is recorded, this is just function(inputs).
std::vector<Variable> Recompute(RecomputeFn function, const std::vector<Variable>& inputs,
                                const std::vector<Variable>& parameters);

// Whether the calling thread is in a first run of Recompute. No gradient is recorded then, but ops
// must give the same bits as when one is recorded.
bool InFirstRun();

}  // namespace torus
