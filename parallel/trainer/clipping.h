// Clipping by the norm of all gradients of a model whose stages are on several ranks. Internal to
// the trainer.
#pragma once

#include <string>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/parameter_table.h"
#include "parallel/trainer/rank_model.h"

namespace torus::parallel {

// Writes the sums of squares of a stage's uses into `squares`, which has one entry per parameter,
// in the table's order. A parameter's entry is set by the stage of its first use, whose gradient is
// the sum over all uses.
void AddSquaredNorms(const ParameterTable& table, int stage, const std::vector<NamedVariable>& uses,
                     const std::vector<double>& of_uses, std::vector<double>& squares);

// Turns the squares of a rank's slices into those of the whole parameters. All tensor-parallel
// ranks of a stage call it together, each with its own squares; parameters that every rank has
// whole are counted once.
void SumOfSlices(Communicator& tensor, const RankModel& model, std::vector<double>& squares,
                 const std::string& what);

// Returns the norm of the whole model's gradient, with tied parameters counted once. All ranks of a
// pipeline call it when their gradients are complete, with the squares of their own parameters and
// 0 for the others'. All ranks receive all squares and add them in model order, so that every cut
// gives the same bits (gradient_norm.h).
double PipelineGradientNorm(Communicator& pipeline, std::vector<double> squares,
                            const std::string& what);

}  // namespace torus::parallel
