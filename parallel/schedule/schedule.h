// A pipeline schedule is data: for each rank, the list of actions that it runs in one mini-batch.
// The printer, the verifier, the simulator and the executor all read this form.
//
//   stage        some consecutive blocks of the model; stage 0 takes the data, the last stage
//                computes the loss
//   rank         a worker (a thread, a process, a GPU) that runs one or more stages
//   micro-batch  one of the parts into which a mini-batch is cut
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::parallel {

// What a rank does in one action.
enum class ActionKind : uint8_t {
  kForward,
  kBackward,        // computes the gradients of the stage's inputs and of its weights
  kBackwardInput,   // its first half: those of the inputs only
  kBackwardWeight,  // its second half, at any later time: those of the weights
  kSendActivation,  // sends the outputs of `stage` to the rank of stage + 1
  kRecvActivation,  // receives the inputs of `stage` from the rank of stage - 1
  kSendGradient,    // sends the gradients of the inputs of `stage` to the rank of stage - 1
  kRecvGradient,    // receives the gradients of the outputs of `stage` from the rank of stage + 1
  kReduce,          // sums the gradients of `stage` over its replicas
  kStep,            // the optimizer's step on `stage`; ends the stage's mini-batch
  kGather,          // gathers the weights of `stage` from its replicas before a forward or backward
  kFree,            // frees the gathered weights
};

// One thing that a rank does in a step.
struct Action {
  ActionKind kind = ActionKind::kForward;  // what it is
  int stage = 0;                           // a stage of the rank that runs the action
  int micro_batch = -1;                    // -1 for kReduce and kStep
  int peer = -1;                           // the other rank of a send or receive; -1 for the others
  friend bool operator==(const Action&, const Action&) = default;
};

// The size for which a schedule is generated: a pipeline of `ranks` ranks with `chunks` stages
// each. Rank r runs stages r, r + ranks, r + 2 ranks, ..., or in a V r and 2 ranks - 1 - r.
struct PipelineSize {
  int ranks = 1;
  int micro_batches = 1;  // of each replica
  int chunks = 1;
  bool both_ends = false;  // rank 0 runs one stage more, the last; of u-shaped, set by SizeOf
  int stages() const { return ranks * chunks + (both_ends ? 1 : 0); }
};

// What all ranks of a pipeline do in a step.
struct Schedule {
  std::string name;                        // as --schedule takes it
  int num_ranks = 0;                       // of the pipeline
  int num_stages = 0;                      // of all ranks
  int num_micro_batches = 0;               // of a step
  std::vector<std::vector<Action>> ranks;  // ranks[r]: what rank r does, in order
};

// Throws BadInput "[NAME] ..." if a number is below 1, or if there are several chunks without
// `several_chunks`.
void CheckSize(const char* name, const PipelineSize& size, bool several_chunks = false);

bool IsForward(ActionKind kind);    // of a whole stage
bool IsBackward(ActionKind kind);   // whole or half
bool IsCompute(ActionKind kind);    // forward or backward
bool IsSend(ActionKind kind);       // of an activation or a gradient
bool IsRecv(ActionKind kind);       // likewise
bool IsOfWeights(ActionKind kind);  // kGather or kFree

// Returns the rank that runs each stage. Throws BadInput if a stage has no rank or several, or is
// not one of the schedule's.
std::vector<int> StageOwners(const Schedule& schedule);

}  // namespace torus::parallel
