// Clipping by the norm of all gradients of a model that lies on several ranks. Trainer's own part.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/trainer/parameter_table.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// The sum of squares of each parameter's gradient, in the table's order; 0 for what other ranks
// own.
std::vector<double> OwnSquaredNorms(const ParameterTable& table,
                                    const std::map<int, Stage>& stages);

// The norm of the whole model's gradient, tied parameters counted once. Called by all ranks of a
// pipeline when their gradients are whole, with the squares of their own: all get all of these
// sums, and add them in model order, so that every cut gives the same bits (gradient_norm.h).
double PipelineGradientNorm(Transport& pipeline, std::vector<double> squares,
                            const std::string& what);

}  // namespace torus::parallel
