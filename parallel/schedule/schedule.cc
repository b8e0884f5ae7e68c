#include "parallel/schedule/schedule.h"

#include "runtime/error.h"

namespace torus::parallel {

void CheckSize(const char* name, const PipelineSize& size, bool several_chunks) {
  Require(size.ranks >= 1 && size.micro_batches >= 1 && size.chunks >= 1, name,
          "needs at least one rank, micro-batch and chunk, got {}, {} and {}", size.ranks,
          size.micro_batches, size.chunks);
  Require(several_chunks || size.chunks == 1, name, "runs one stage a rank, got {} chunks",
          size.chunks);
}

bool IsForward(ActionKind kind) { return kind == ActionKind::kForward; }

bool IsBackward(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardInput ||
         kind == ActionKind::kBackwardWeight;
}

bool IsCompute(ActionKind kind) { return IsForward(kind) || IsBackward(kind); }

bool IsSend(ActionKind kind) {
  return kind == ActionKind::kSendActivation || kind == ActionKind::kSendGradient;
}

bool IsRecv(ActionKind kind) {
  return kind == ActionKind::kRecvActivation || kind == ActionKind::kRecvGradient;
}

bool IsOfWeights(ActionKind kind) {
  return kind == ActionKind::kGather || kind == ActionKind::kFree;
}

namespace {

void SetOwner(std::vector<int>& owners, const Schedule& schedule, int stage, int rank) {
  Require(stage >= 0 && stage < schedule.num_stages, "schedule",
          "{}: rank {} runs stage {}, which is not one of {}", schedule.name, rank, stage,
          schedule.num_stages);
  Require(owners[stage] == -1 || owners[stage] == rank, "schedule",
          "{}: stage {} belongs to one rank, got ranks {} and {}", schedule.name, stage,
          owners[stage], rank);
  owners[stage] = rank;
}

}  // namespace

std::vector<int> StageOwners(const Schedule& schedule) {
  Require(static_cast<int>(schedule.ranks.size()) == schedule.num_ranks, "schedule",
          "{}: needs a list for each of {} ranks, got {}", schedule.name, schedule.num_ranks,
          schedule.ranks.size());
  std::vector<int> owners(schedule.num_stages, -1);
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    for (const Action& action : schedule.ranks[rank]) {
      SetOwner(owners, schedule, action.stage, rank);
    }
  }
  for (int stage = 0; stage < schedule.num_stages; ++stage) {
    Require(owners[stage] != -1, "schedule", "{}: no rank runs stage {}", schedule.name, stage);
  }
  return owners;
}

}  // namespace torus::parallel
