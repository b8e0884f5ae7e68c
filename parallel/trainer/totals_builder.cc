#include "parallel/trainer/totals_builder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "parallel/schedule/simulator.h"

namespace torus::parallel {
namespace {

void AddTimes(const RankCounts& segment, RankTime& time) {
  time.forward += segment.times.forward;
  time.backward += segment.times.backward;
  time.transfer += segment.times.transfer;
  time.reduce += segment.times.reduce;
  time.optimizer += segment.times.optimizer;
  time.idle += segment.times.idle;
  time.pipeline += segment.times.pipeline;
  time.data_wait += segment.data_wait;
  time.wall += segment.wall;
  time.other = std::max(0.0, time.wall - time.forward - time.backward - time.transfer -
                                 time.reduce - time.optimizer - time.idle - time.data_wait);
}

RankTime& TimeOf(const RankPlace& place, std::vector<RankTime>& ranks) {
  for (RankTime& time : ranks)
    if (time.place.rank == place.rank) return time;
  return ranks.emplace_back(RankTime{.place = place});
}

// The links that begin at one rank, in the order in which they came. A direct all-reduce of n ranks
// has n (n - 1), so none is searched for among all of them, and those that are known stay in place.
class LinksOfRank {
 public:
  // `links` are ordered by rank.
  LinksOfRank(int rank, std::vector<LinkBytes>& links) : all_(links) {
    const auto own = std::ranges::equal_range(links, rank, {}, &LinkBytes::from);
    for (auto at = own.begin(); at != own.end(); ++at)
      known_.emplace(std::pair(at->to, at->what), at - links.begin());
    end_ = own.end() - links.begin();
  }
  void Add(const LinkBytes& added) {
    if (added.sent == 0) return;
    const auto next = static_cast<size_t>(end_) + fresh_.size();
    const auto [at, is_new] = known_.emplace(std::pair(added.to, added.what), next);
    if (is_new) return fresh_.push_back(added);
    const auto number = static_cast<size_t>(at->second);
    LinkBytes& link = number < static_cast<size_t>(end_) ? all_[number] : fresh_[number - end_];
    link.sent += added.sent;
    link.uncompressed += added.uncompressed;
  }
  void PutNewOnes() { all_.insert(all_.begin() + end_, fresh_.begin(), fresh_.end()); }

 private:
  std::vector<LinkBytes>& all_;
  std::vector<LinkBytes> fresh_;                            // to stand in `all_` from end_ on
  std::map<std::pair<int, std::string>, ptrdiff_t> known_;  // places by receiver and kind
  ptrdiff_t end_ = 0;
};

// The kind of the sums with rank `peer`: with a tensor-parallel rank of the same stages, or another
// rank.
const char* SumOf(const RankPlace& place, int peer) {
  const bool together = peer / place.tensor.size == place.rank / place.tensor.size;
  return place.tensor.size > 1 && together ? "tensor-parallel" : "all-reduce";
}

void AddLinks(const RankPlace& place, const RankCounts& segment, std::vector<LinkBytes>& links) {
  const int rank = place.rank;
  LinksOfRank own(rank, links);
  for (const CutTraffic& cut : segment.cuts)
    own.Add(
        {rank, cut.peer, cut.forward ? "activations" : "gradients", cut.sent_bytes, cut.raw_bytes});
  for (size_t peer = 0; peer < segment.reduced_bytes.size(); ++peer)
    own.Add({rank, static_cast<int>(peer), SumOf(place, static_cast<int>(peer)),
             segment.reduced_bytes[peer], segment.uncoded_bytes[peer]});
  for (size_t peer = 0; peer < segment.computed_bytes.size(); ++peer) {
    const int to = static_cast<int>(peer);
    const uint64_t bytes = segment.computed_bytes[peer];
    own.Add({rank, to, std::string(SumOf(place, to)) + ", computed", bytes, bytes});
  }
  own.PutNewOnes();
}

// The measured times of each stage; a rank's times are divided equally among its stages.
CostModel MeasuredCosts(int stages, const std::vector<RankTime>& ranks) {
  CostModel costs{.forward = std::vector<double>(stages), .backward = std::vector<double>(stages)};
  for (const RankTime& time : ranks) {
    const auto share = static_cast<double>(time.place.stages.size());
    for (const int stage : time.place.stages) {
      costs.forward[stage] += time.forward / share;
      costs.backward[stage] += time.backward / share;
    }
  }
  return costs;
}

}  // namespace

void AddSegment(const RankPlace& place, const RankCounts& segment, TrainTotals& totals) {
  RankTime& time = TimeOf(place, totals.ranks);
  AddTimes(segment, time);
  time.threads = segment.threads;
  time.weights_bytes = segment.weights_bytes;
  time.optimizer_bytes = segment.optimizer_bytes;
  time.peak_bytes = segment.peak_bytes;
  time.drift_distance = segment.drift_distance;
  time.drift_weights = segment.drift_weights;
  AddLinks(place, segment, totals.links);
}

Bubble MeasureBubble(const Schedule& schedule, const std::vector<RankTime>& ranks) {
  double compute = 0, in_pipeline = 0;
  for (const RankTime& time : ranks) {
    compute += time.forward + time.backward;
    if (time.place.first) in_pipeline += schedule.num_ranks * time.pipeline;
  }
  Bubble bubble{.measured = in_pipeline > 0 ? std::max(0.0, 1 - compute / in_pipeline) : 0,
                .ideal = Simulate(schedule, EqualStages(schedule.num_stages)).bubble};
  bubble.balanced =
      compute > 0 ? Simulate(schedule, MeasuredCosts(schedule.num_stages, ranks)).bubble : 0;
  return bubble;
}

}  // namespace torus::parallel
