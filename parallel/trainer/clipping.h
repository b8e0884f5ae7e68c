// Clipping by the norm of all gradients of a model that lies on several ranks. Trainer's own part.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/trainer/parameter_table.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// The norm of the whole model's gradient, tied parameters counted once. Called by all ranks of a
// pipeline when their gradients are whole. Each rank sums the squares of its own parameters, all
// get all of these sums, and add them in model order: the same bits for every cut
// (gradient_norm.h).
double PipelineGradientNorm(Transport& pipeline, const ParameterTable& table,
                            const std::map<int, Stage>& stages, const std::string& what);

}  // namespace torus::parallel
