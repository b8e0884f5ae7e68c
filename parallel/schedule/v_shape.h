// The V-shaped placement of stages: rank r of K runs two stages, r and 2K - 1 - r, so that the
// model goes down the ranks and up again. Rank 0 has the first stage and the last; between stages
// K - 1 and K nothing is sent. Internal to the schedules that use it.
#pragma once

#include <array>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Throws what CheckSize throws, and BadInput unless `size` has two chunks.
void CheckVShape(const char* name, const PipelineSize& size);

// The stage of `rank` on the way down (chunk 0) or up (chunk 1).
int VStage(int rank, int chunk, int ranks);

// The list of one rank. Each stage takes the micro-batches in ascending order.
class VRank {
 public:
  VRank(const PipelineSize& size, int rank) : size_(size), rank_(rank) {}

  // Adds `kind` on the next micro-batch of the rank's stage of that chunk; nothing if there is none
  // left. A whole backward counts as both halves.
  void Add(ActionKind kind, int chunk);
  // Adds `kind` on all micro-batches that are left.
  void AddRest(ActionKind kind, int chunk);

  std::vector<Action> actions;

 private:
  int& Next(ActionKind kind, int chunk);

  const PipelineSize size_;
  const int rank_;
  // Of each chunk, the next micro-batch of forwards, backwards to the inputs and to the weights.
  std::array<std::array<int, 3>, 2> next_{};
};

}  // namespace torus::parallel
