// What tensor parallelism adds to the time and bytes of a transformer's passes, in closed form
// (Shoeybi et al. 2019, arXiv:1909.08053, section 3): for planning, for the simulator, and to check
// a run's measured bytes.
#pragma once

#include <vector>

#include "parallel/link/link_model.h"
#include "parallel/schedule/cost_model.h"

namespace torus::parallel {

// The bytes that a rank sends in an all-reduce of `bytes` among `ranks`: 2 (ranks - 1) / ranks of
// them, the minimum (Patarasuk and Yuan 2009), which both the direct and the ring all-reduce reach.
double AllReduceBytes(int ranks, double bytes);

// Seconds of the direct all-reduce (collectives/direct.h) if each rank has one link to the others:
// two exchanges, each of which takes the latency and (ranks - 1) / ranks of the bytes. Sums take no
// time.
double AllReduceSeconds(int ranks, double bytes, const LinkModel& link);

// Seconds of an all-gather in which each of `ranks` starts with its share of `bytes`: one exchange,
// which takes the latency and (ranks - 1) / ranks of the bytes.
double AllGatherSeconds(int ranks, double bytes, const LinkModel& link);

// A stage of a transformer whose layers are each computed by several ranks together.
struct TensorParallelStage {
  int blocks = 0;          // attention and MLP each: two all-reduces forward, two backward
  bool embedding = false;  // split by tokens: one more all-reduce forward
  bool head = false;       // of a language model, split by tokens: one more all-reduce backward
  double activation_bytes = 0;  // of a micro-batch: tokens x width x bytes per element
};

// How many all-reduces of an activation a micro-batch's forward and its backward need.
int ForwardSums(const TensorParallelStage& stage);
int BackwardSums(const TensorParallelStage& stage);

// Bytes that a rank sends to the others of its stage for one micro-batch, forward and backward. Not
// counted: the loss of the head gathers four numbers per token, and clipping sums one per parameter
// and step.
double TensorParallelBytes(int ranks, const TensorParallelStage& stage);

// How an activation that all ranks of a stage have crosses a cut: each rank sends its share and the
// ranks after the cut gather the shares (kShared), or each rank sends all of it (kWhole).
enum class TensorCuts { kShared, kWhole };

// Returns the costs of stages that `ranks` compute together, given those of one rank per stage
// (`whole`). Compute, state and optimizer are shared evenly, and the all-reduces over `link` are
// added to forwards and backwards. `cuts` says what a rank sends across a cut and whether it
// gathers over `link` what it receives; that gather counts as decoding. Activation memory stays the
// same, because every rank keeps what lies between the split layers. Throws BadInput unless there
// is at least one rank and `stages` has an entry for each forward and backward of `whole`.
CostModel WithTensorParallel(const CostModel& whole, int ranks,
                             const std::vector<TensorParallelStage>& stages, const LinkModel& link,
                             TensorCuts cuts = TensorCuts::kShared);

}  // namespace torus::parallel
