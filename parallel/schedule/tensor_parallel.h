// What tensor parallelism adds to a transformer's passes, in closed form (Shoeybi et al. 2019,
// arXiv:1909.08053, section 3): for what is planned and simulated, and for what a run is held
// against.
#pragma once

#include <vector>

#include "parallel/link/link_model.h"
#include "parallel/schedule/cost_model.h"

namespace torus::parallel {

// What a rank sends in an all-reduce of `bytes` among `ranks`: 2 (ranks - 1) / ranks of them, the
// least there is (Patarasuk and Yuan 2009), as the direct one and the ring do.
double AllReduceBytes(int ranks, double bytes);

// Seconds of the direct all-reduce (collectives/direct.h) where each rank has one link to the
// others: two exchanges, each of (ranks - 1) / ranks of the bytes behind a latency. Sums take no
// time.
double AllReduceSeconds(int ranks, double bytes, const LinkModel& link);

// Seconds in which `ranks`, each of which has a share of `bytes`, come to have all of them: one
// exchange of (ranks - 1) / ranks of the bytes behind a latency.
double AllGatherSeconds(int ranks, double bytes, const LinkModel& link);

// A stage of a transformer, each of whose layers `ranks` compute together.
struct TensorParallelStage {
  int blocks = 0;               // each with attention and an MLP: two sums forward, two backward
  bool embedding = false;       // split by tokens: a sum more, forward
  bool head = false;            // a language model's, split by tokens: a sum more, backward
  double activation_bytes = 0;  // of a micro-batch, tokens x width x the bytes of an element
};

// How often the ranks sum an activation in a micro-batch's forward and in its backward.
int ForwardSums(const TensorParallelStage& stage);
int BackwardSums(const TensorParallelStage& stage);

// What a rank sends to the others of its stage for one micro-batch, forward and backward. Beside it
// the head's loss gathers four numbers a token, and clipping sums one for each parameter a step.
double TensorParallelBytes(int ranks, const TensorParallelStage& stage);

// How what all ranks of a stage have crosses a cut: each sends its share, and those behind the cut
// gather them, or each sends all of it.
enum class TensorCuts { kShared, kWhole };

// The costs of stages that `ranks` compute together, from those of one rank each: compute, states
// and optimizer are shared out evenly, and the sums over `link` are added to forwards and
// backwards. What a rank sends across a cut, and what it gathers over `link` when it receives, are
// as `cuts` says; gathering counts as decoding. Activations are taken as they are: what lies
// between the split layers every rank keeps. BadInput unless there is a rank, and an entry of
// `stages` for each forward and backward of `whole`.
CostModel WithTensorParallel(const CostModel& whole, int ranks,
                             const std::vector<TensorParallelStage>& stages, const LinkModel& link,
                             TensorCuts cuts = TensorCuts::kShared);

}  // namespace torus::parallel
