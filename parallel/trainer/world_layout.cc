#include "parallel/trainer/world_layout.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

RankPlace MakePlace(const Schedule& schedule, int replica, int pipeline_rank) {
  const std::vector<int> owners = StageOwners(schedule);
  RankPlace place{.rank = replica * schedule.num_ranks + pipeline_rank,
                  .replica = replica,
                  .pipeline_rank = pipeline_rank};
  for (int s = 0; s < schedule.num_stages; ++s)
    if (owners[s] == pipeline_rank) place.stages.push_back(s);
  place.first = owners.front() == pipeline_rank;
  place.last = owners.back() == pipeline_rank;
  return place;
}

}  // namespace

WorldLayout::WorldLayout(const Schedule& schedule, int replicas)
    : replicas_(replicas), pipeline_ranks_(schedule.num_ranks) {
  Require(replicas >= 1, "trainer", "replicas must be at least 1, got {}", replicas);
  for (int r = 0; r < replicas; ++r)
    for (int p = 0; p < schedule.num_ranks; ++p) places_.push_back(MakePlace(schedule, r, p));
}

std::vector<int> WorldLayout::PipelineOf(int replica) const {
  std::vector<int> ranks;
  for (int p = 0; p < pipeline_ranks_; ++p) ranks.push_back(replica * pipeline_ranks_ + p);
  return ranks;
}

std::vector<int> WorldLayout::ReplicasOf(int pipeline_rank) const {
  std::vector<int> ranks;
  for (int r = 0; r < replicas_; ++r) ranks.push_back(r * pipeline_ranks_ + pipeline_rank);
  return ranks;
}

int ThreadShare(int threads, int ranks, int rank) {
  return std::max(1, threads / ranks + (rank < threads % ranks ? 1 : 0));
}

}  // namespace torus::parallel
