// What a pipeline's parts cost: the simulator's and the partition's input.
#pragma once

#include <vector>

#include "parallel/link/link_table.h"

namespace torus::parallel {

// All times in one unit of the caller's choice, which with links is seconds. A list has one entry
// for each stage; an empty `forward` or `backward` means 1 for each, any other empty list 0.
struct CostModel {
  std::vector<double> forward;
  std::vector<double> backward;       // both halves
  double backward_input_share = 0.5;  // of `backward`, that kBackwardInput takes
  std::vector<double> reduce;         // of the stage's gradients over replicas
  std::vector<double> step;           // of the optimizer

  // A micro-batch's output of the stage, as it is sent; the gradient that comes back is as large.
  std::vector<double> boundary_bytes;
  // For a boundary, on the rank that sends and on the one that receives: the codec's time.
  std::vector<double> encode, decode;
  LinkTable links;

  std::vector<double> state_bytes;       // weights, gradients, optimizer
  std::vector<double> activation_bytes;  // kept of a micro-batch from its forward to its backward
};

// Equal stages and free transfers; a backward, both halves, takes twice its forward.
CostModel EqualStages(int stages);

// One list of a CostModel.
struct CostList {
  const char* name;  // in files, flags and messages
  std::vector<double> CostModel::*list;
  bool of_work;   // divided where the work is divided into chunks; else that of a boundary
  bool in_bytes;  // else seconds
  const char* about;
};

inline constexpr CostList kCostLists[] = {
    {"forward", &CostModel::forward, true, false, "of a micro-batch's forward on a rank"},
    {"backward", &CostModel::backward, true, false, "of its backward, both halves"},
    {"reduce", &CostModel::reduce, true, false, "of a rank's all-reduce of gradients"},
    {"step", &CostModel::step, true, false, "of a rank's optimizer"},
    {"encode", &CostModel::encode, false, false, "of the codec on the rank that sends"},
    {"decode", &CostModel::decode, false, false, "of the codec on the rank that receives"},
    {"boundary", &CostModel::boundary_bytes, false, true, "that cross a cut, in each direction"},
    {"state", &CostModel::state_bytes, true, true, "of a rank's weights, gradients and optimizer"},
    {"activations", &CostModel::activation_bytes, true, true,
     "of a micro-batch on a rank until its backward"}};

// The costs of the stages between `cuts`, each the first block of a stage, where `blocks` has an
// entry for each block: the work of a stage is that of its blocks, and what crosses the cut behind
// it that of its last. The links are the same.
CostModel JoinBlocks(const CostModel& blocks, const std::vector<int>& cuts);

// BadInput naming the list unless each is empty or has a finite number of at least 0 for each of
// `stages`.
void CheckCosts(const CostModel& costs, int stages);

}  // namespace torus::parallel
