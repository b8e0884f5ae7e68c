// A pipeline schedule is data: for each rank, the list of actions it runs in one mini-batch.
//
// One form, five readers: the printer, the verifier, the simulator, the executor, and the picture
// of what it took.
//
//   stage        a consecutive part of the model; stage 0 takes the data, the last one gives the
//   loss rank         who runs one or more stages
//   micro-batch  one of the equal parts into which a mini-batch is cut
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::parallel {

enum class ActionKind : uint8_t {
  kForward,
  kBackward,        // both halves at once
  kBackwardInput,   // the gradient of the stage's inputs; leaves that of the weights for later
  kBackwardWeight,  // the half that kBackwardInput left
  kSendActivation,  // the outputs of `stage`, to the rank of stage + 1
  kRecvActivation,  // the inputs of `stage`, from the rank of stage - 1
  kSendGradient,    // the gradient of the inputs of `stage`, to the rank of stage - 1
  kRecvGradient,    // the gradient of the outputs of `stage`, from the rank of stage + 1
  kReduce,          // sums the gradients of `stage` over its replicas
  kStep,            // the optimizer's step on `stage`, which ends its mini-batch
};

struct Action {
  ActionKind kind = ActionKind::kForward;
  int stage = 0;         // whose work it is, on the rank that runs it
  int micro_batch = -1;  // -1 for kReduce and kStep
  int peer = -1;         // the other rank of a send or receive; -1 for the others
  friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
  std::string name;
  int num_ranks = 0;
  int num_stages = 0;
  int num_micro_batches = 0;
  std::vector<std::vector<Action>> ranks;  // ranks[r]: what rank r does, in order
};

bool IsForward(ActionKind kind);
bool IsBackward(ActionKind kind);  // whole or half
bool IsCompute(ActionKind kind);   // forward or backward
bool IsSend(ActionKind kind);
bool IsRecv(ActionKind kind);

// owners[s]: the rank that runs stage s. BadInput when a stage has none or several, or lies outside
// of the schedule.
std::vector<int> StageOwners(const Schedule& schedule);

}  // namespace torus::parallel
