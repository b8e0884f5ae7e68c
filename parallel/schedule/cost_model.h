// The time, bytes and memory of a pipeline's parts: input of the simulator and of the search for
// cuts.
#pragma once

#include <vector>

#include "parallel/link/link_table.h"

namespace torus::parallel {

// All times have one unit of the caller's choice; with links it is seconds. Each list has one entry
// per stage. An empty `forward` or `backward` stands for 1 everywhere, any other empty list for 0.
struct CostModel {
  std::vector<double> forward;
  std::vector<double> backward;       // both halves
  double backward_input_share = 0.5;  // share of `backward` that kBackwardInput takes
  std::vector<double> reduce;         // of the stage's gradients over replicas
  std::vector<double> step;           // of the optimizer

  // Bytes of the stage's output for one micro-batch, as sent; the gradient that comes back has as
  // many.
  std::vector<double> boundary_bytes;
  // The codec's time for one boundary: encode on the rank that sends, decode on the one that
  // receives.
  std::vector<double> encode, decode;
  LinkTable links;

  std::vector<double> state_bytes;       // weights, gradients, optimizer
  std::vector<double> activation_bytes;  // kept per micro-batch from its forward to its backward
};

// Equal stages and free transfers; a backward, both halves, takes twice its forward.
CostModel EqualStages(int stages);

// One list of a CostModel.
struct CostList {
  const char* name;  // in files, flags and messages
  std::vector<double> CostModel::*list;
  bool of_work;   // divided among the chunks of a rank; false: belongs to a boundary
  bool in_bytes;  // else seconds
  const char* about;
};

inline constexpr CostList kCostLists[] = {
    {"forward", &CostModel::forward, true, false, "of the forward pass of a micro-batch on a rank"},
    {"backward", &CostModel::backward, true, false,
     "of the backward pass of a micro-batch on a rank, both halves"},
    {"reduce", &CostModel::reduce, true, false, "of a rank's all-reduce of gradients"},
    {"step", &CostModel::step, true, false, "of a rank's optimizer"},
    {"encode", &CostModel::encode, false, false, "of the codec on the rank that sends"},
    {"decode", &CostModel::decode, false, false, "of the codec on the rank that receives"},
    {"boundary", &CostModel::boundary_bytes, false, true, "that cross a cut, in each direction"},
    {"state", &CostModel::state_bytes, true, true, "of a rank's weights, gradients and optimizer"},
    {"activations", &CostModel::activation_bytes, true, true,
     "of a micro-batch on a rank, kept until its backward pass"}};

// Converts costs per block to costs per stage. `cuts` holds the first block of each stage but the
// first. A stage's work is the sum over its blocks; the costs of the cut after it are those of its
// last block. The links are the same.
CostModel JoinBlocks(const CostModel& blocks, const std::vector<int>& cuts);

// Throws BadInput, naming the list, unless each list is empty or has one finite number >= 0 for
// each of `stages`.
void CheckCosts(const CostModel& costs, int stages);

}  // namespace torus::parallel
