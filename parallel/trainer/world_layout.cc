#include "parallel/trainer/world_layout.h"

#include <algorithm>
#include <ranges>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

RankPlace MakePlace(const Schedule& schedule, int replica, int pipeline_rank,
                    const TensorPlace& tensor) {
  const std::vector<int> owners = StageOwners(schedule);
  RankPlace place{
      .rank = (replica * schedule.num_ranks + pipeline_rank) * tensor.size + tensor.rank,
      .replica = replica,
      .pipeline_rank = pipeline_rank,
      .tensor = tensor};
  for (int s = 0; s < schedule.num_stages; ++s)
    if (owners[s] == pipeline_rank) place.stages.push_back(s);
  place.first = owners.front() == pipeline_rank;
  place.last = owners.back() == pipeline_rank;
  return place;
}

}  // namespace

WorldLayout::WorldLayout(const Schedule& schedule, int replicas, int tensor)
    : replicas_(replicas), pipeline_ranks_(schedule.num_ranks), tensor_(tensor) {
  Require(replicas >= 1, "trainer", "replicas must be at least 1, got {}", replicas);
  Require(tensor >= 1, "trainer", "tensor must be at least 1, got {}", tensor);
  for (int r = 0; r < replicas; ++r)
    for (int p = 0; p < schedule.num_ranks; ++p)
      for (int t = 0; t < tensor; ++t) places_.push_back(MakePlace(schedule, r, p, {t, tensor}));
}

std::vector<int> WorldLayout::PipelineOf(int replica, int tensor) const {
  std::vector<int> ranks;
  for (int p = 0; p < pipeline_ranks_; ++p) ranks.push_back(RankOf(replica, p, tensor));
  return ranks;
}

std::vector<int> WorldLayout::ReplicasOf(int pipeline_rank, int tensor) const {
  std::vector<int> ranks;
  for (int r = 0; r < replicas_; ++r) ranks.push_back(RankOf(r, pipeline_rank, tensor));
  return ranks;
}

std::vector<int> WorldLayout::TensorRanksOf(int replica, int pipeline_rank) const {
  std::vector<int> ranks;
  for (int t = 0; t < tensor_; ++t) ranks.push_back(RankOf(replica, pipeline_rank, t));
  return ranks;
}

std::vector<int> ThreadShares(int threads, const std::vector<double>& work) {
  const int ranks = static_cast<int>(work.size());
  std::vector<int> shares(work.size(), std::max(1, threads / ranks));
  const auto work_per_thread = [&](size_t rank) { return work[rank] / shares[rank]; };
  const auto all = std::views::iota(size_t{0}, work.size());
  for (int left = std::max(0, threads - ranks * shares[0]); left > 0; --left)
    ++shares[*std::ranges::max_element(all, {}, work_per_thread)];
  return shares;
}

}  // namespace torus::parallel
