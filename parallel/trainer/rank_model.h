// RankModel: a rank's own stages of the model, and what it must know of the whole. Trainer's own
// part.
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

// A parameter or buffer, wherever it lies.
struct WeightSpec {
  std::string name;
  TensorSpec spec;      // of this rank's slice, where it is split
  bool trained = true;  // false: a buffer
  std::optional<TensorSplit> split = {};
  Shape whole = spec.shape;  // without the split
};

struct RankModel {
  Cuts cuts;
  ParameterTable table;               // of the whole model
  std::vector<WeightSpec> weights;    // of the whole model, as TrainState::weights lists them
  TensorPlace tensor;                 // whose slices the stages have
  Device device;                      // where the rank's stages lie
  std::vector<SkipConnection> skips;  // of the whole model: what skips stages
  std::map<int, Stage> stages;        // of the rank, by number
};

// The given cuts, or those that balance the blocks' static costs. BadInput for a number that does
// not fit the stages.
Cuts ChooseCuts(const TrainerOptions& options, const std::vector<Block>& blocks);

// Makes the model (TrainingParts::model), cuts it and keeps the stages `own`; the memory of the
// others is freed again; the rank's own moves to `device`. No two stages share a variable, as they
// would not on different machines, and tied weights begin with the value of their first use. Blocks
// are split for `tensor`, once they have their values. BadInput for cuts that do not fit, and where
// several tensor-parallel ranks find nothing to split.
RankModel MakeRankModel(const TrainerOptions& options, const TrainingParts& parts,
                        const std::vector<int>& own, const TensorPlace& tensor, Device device);

}  // namespace torus::parallel
