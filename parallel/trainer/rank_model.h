// RankModel: a rank's own stages of the model, and what it must know of the whole model. Internal
// to the trainer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parallel/pipeline/partition.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/trainer/parameter_table.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// A parameter or buffer of any rank.
struct WeightSpec {
  std::string name;
  TensorSpec spec;      // of this rank's slice if it is split
  bool trained = true;  // false: a buffer
  std::optional<TensorSplit> split = {};
  Shape whole = spec.shape;  // shape before splitting
};

struct RankModel {
  Cuts cuts;
  std::vector<double> stage_costs;    // static, of the whole model
  ParameterTable table;               // of the whole model
  std::vector<WeightSpec> weights;    // of the whole model, as TrainState::weights lists them
  TensorPlace tensor;                 // whose slices the stages have
  Device device;                      // of the rank's stages
  std::vector<SkipConnection> skips;  // of the whole model
  std::map<int, Stage> stages;        // of the rank, by number
};

// Returns the given cuts, or those that balance the blocks' static costs. Throws BadInput if their
// number does not fit the stages.
Cuts ChooseCuts(const TrainerOptions& options, const std::vector<Block>& blocks);

// Makes the model (TrainingParts::model), cuts it, keeps the stages `own` and moves them to
// `device`; the memory of the others is freed. No two stages share a variable, as if they were on
// different machines; tied weights begin with the value of their first use. Blocks are then split
// for `tensor`. Throws BadInput if the cuts do not fit, or if there are several tensor-parallel
// ranks and nothing to split.
RankModel MakeRankModel(const TrainerOptions& options, const TrainingParts& parts,
                        const std::vector<int>& own, const TensorPlace& tensor, Device device);

}  // namespace torus::parallel
