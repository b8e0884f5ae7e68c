#include "parallel/trainer/totals_builder.h"

#include <algorithm>

#include "parallel/schedule/simulator.h"

namespace torus::parallel {
namespace {

void AddTimes(const RankCounts& before, const RankCounts& after, RankTime& time) {
  const RankTotals &a = before.times, &b = after.times;
  time.forward += b.forward - a.forward;
  time.backward += b.backward - a.backward;
  time.transfer += b.transfer - a.transfer;
  time.reduce += b.reduce - a.reduce;
  time.optimizer += b.optimizer - a.optimizer;
  time.idle += b.idle - a.idle;
  time.data_wait += after.data_wait - before.data_wait;
  time.wall += after.wall - before.wall;
  time.other = std::max(0.0, time.wall - time.forward - time.backward - time.transfer -
                                 time.reduce - time.optimizer - time.idle - time.data_wait);
}

void AddLink(const LinkBytes& added, std::vector<LinkBytes>& links) {
  if (added.sent == 0) return;
  for (LinkBytes& link : links) {
    if (link.from != added.from || link.to != added.to || link.what != added.what) continue;
    link.sent += added.sent;
    link.uncompressed += added.uncompressed;
    return;
  }
  links.push_back(added);
}

void AddLinks(int rank, const RankCounts& before, const RankCounts& after,
              std::vector<LinkBytes>& links) {
  for (size_t i = 0; i < after.cuts.size(); ++i) {
    const CutTraffic& cut = after.cuts[i];
    AddLink({rank, cut.peer, cut.forward ? "activations" : "gradients",
             cut.sent_bytes - before.cuts[i].sent_bytes, cut.raw_bytes - before.cuts[i].raw_bytes},
            links);
  }
  for (size_t peer = 0; peer < after.reduced_bytes.size(); ++peer) {
    const uint64_t bytes = after.reduced_bytes[peer] - before.reduced_bytes[peer];
    AddLink({rank, static_cast<int>(peer), "all-reduce", bytes, bytes}, links);
  }
}

// Mean times of each stage, from the ranks that run one stage each; empty where one runs several.
CostModel MeasuredCosts(int stages, const std::vector<RankTime>& ranks) {
  CostModel costs{.forward = std::vector<double>(stages), .backward = std::vector<double>(stages)};
  for (const RankTime& time : ranks) {
    if (time.place.stages.size() != 1) return {};
    costs.forward[time.place.stages[0]] += time.forward;
    costs.backward[time.place.stages[0]] += time.backward;
  }
  return costs;
}

}  // namespace

void AddSegment(const WorldLayout& layout, const std::vector<RankCounts>& before,
                const std::vector<RankCounts>& after, TrainTotals& totals) {
  totals.ranks.resize(after.size());
  for (size_t r = 0; r < after.size(); ++r) {
    totals.ranks[r].place = layout.place(static_cast<int>(r));
    AddTimes(before[r], after[r], totals.ranks[r]);
    AddLinks(static_cast<int>(r), before[r], after[r], totals.links);
  }
}

Bubble MeasureBubble(const Schedule& schedule, const std::vector<RankTime>& ranks) {
  double compute = 0, in_pipeline = 0;
  for (const RankTime& time : ranks) {
    compute += time.forward + time.backward;
    in_pipeline += time.forward + time.backward + time.transfer + time.idle;
  }
  Bubble bubble{.measured = in_pipeline > 0 ? 1 - compute / in_pipeline : 0,
                .ideal = Simulate(schedule).bubble};
  bubble.balanced =
      compute > 0 ? Simulate(schedule, MeasuredCosts(schedule.num_stages, ranks)).bubble : 0;
  return bubble;
}

}  // namespace torus::parallel
