// Clipping by the norm of all gradients of a model that lies on several ranks. Trainer's own part.
#pragma once

#include <string>
#include <vector>

#include "parallel/trainer/parameter_table.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Puts the sums of squares of a stage's uses into `squares`, which are in the table's order: of a
// parameter that has its first use in the stage, that of this use, which has the sum of them all.
void AddSquaredNorms(const ParameterTable& table, int stage, const std::vector<NamedVariable>& uses,
                     const std::vector<double>& of_uses, std::vector<double>& squares);

// Makes the squares of a rank's slices those of the whole parameters. Called by all tensor-parallel
// ranks of a stage together, each with the squares of all it has; those of parameters that every
// rank has whole are counted once.
void SumOfSlices(Transport& tensor, const RankModel& model, std::vector<double>& squares,
                 const std::string& what);

// The norm of the whole model's gradient, tied parameters counted once. Called by all ranks of a
// pipeline when their gradients are whole, with the squares of their own, 0 for what others own:
// all get all of these sums, and add them in model order, so that every cut gives the same bits
// (gradient_norm.h).
double PipelineGradientNorm(Transport& pipeline, std::vector<double> squares,
                            const std::string& what);

}  // namespace torus::parallel
