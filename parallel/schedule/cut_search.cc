#include "parallel/schedule/cut_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "parallel/schedule/verifier.h"

namespace torus::parallel {
namespace {

// One way to cut the last stages, and what these add to the time of a mini-batch.
struct Part {
  double over = 0;                   // the most bytes by which a rank exceeds its limit
  double forward = 0, backward = 0;  // of the slowest stage or link
  double ahead = 0, behind = 0;      // of links and codecs, for an activation and for a gradient
  double end = 0;                    // from the last stage's last forward to the last reduction
  double step = 0;                   // of the slowest optimizer
  int block = 0;                     // the first one
  int next = -1;                     // index of the part without the first stage; -1: none

  bool Dominates(const Part& other) const {
    return over <= other.over && forward <= other.forward && backward <= other.backward &&
           ahead <= other.ahead && behind <= other.behind && end <= other.end && step <= other.step;
  }
};

// Bytes over the limits, then seconds.
using Value = std::pair<double, double>;
constexpr Value kNone{std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::infinity()};

// sums[i] is the sum of the first i entries.
std::vector<double> Sums(const std::vector<double>& list, size_t count) {
  std::vector<double> sums(count + 1, 0);
  for (size_t i = 0; i < list.size(); ++i) sums[i + 1] = sums[i] + list[i];
  return sums;
}

// largest[i] is the largest of the first i entries.
std::vector<double> Largest(const std::vector<double>& list) {
  std::vector<double> largest(list.size() + 1, 0);
  for (size_t i = 0; i < list.size(); ++i) largest[i + 1] = std::max(largest[i], list[i]);
  return largest;
}

struct Both {
  double forward = 0, backward = 0;
};

class Search {
 public:
  Search(const Schedule& schedule, const CostModel& blocks, const std::vector<double>& limits,
         bool apart)
      : blocks_(blocks),
        limits_(limits),
        owners_(StageOwners(schedule)),
        in_flight_(limits.empty() ? std::vector<int>() : Verify(schedule).in_flight),
        apart_(apart),
        stages_(schedule.num_stages),
        count_(static_cast<int>(blocks.forward.size())),
        more_(schedule.num_micro_batches - 1),
        chunks_(static_cast<double>(schedule.num_stages) / schedule.num_ranks),
        forward_(Sums(blocks.forward, count_)),
        backward_(Sums(blocks.backward, count_)),
        reduce_(Sums(blocks.reduce, count_)),
        step_(Sums(blocks.step, count_)),
        state_(Sums(blocks.state_bytes, count_)),
        activations_(Sums(blocks.activation_bytes, count_)),
        largest_{Largest(blocks.forward), Largest(blocks.backward)} {}

  // The first pass keeps only one part for each stage and block. Its result bounds the second pass,
  // which keeps every part that may still become better.
  std::vector<int> Run() {
    Fill(1);
    best_ = BoundOf(parts_[fronts_[0][0].front()], 0);
    best_.second *= 1 + 1e-9;  // so that rounding drops no part
    Fill(std::numeric_limits<size_t>::max());
    const std::vector<int>& ways = fronts_[0][0];
    const int best =
        *std::ranges::min_element(ways, {}, [this](int way) { return BoundOf(parts_[way], 0); });
    std::vector<int> cuts;
    for (int part = parts_[best].next; part >= 0; part = parts_[part].next)
      cuts.push_back(parts_[part].block);
    return cuts;
  }

 private:
  void Fill(size_t width) {
    parts_.clear();
    fronts_.assign(stages_, std::vector<std::vector<int>>(count_));
    for (int stage = stages_ - 1; stage >= 0; --stage)
      for (int block = stage; block <= (stage == 0 ? 0 : count_ - (stages_ - stage)); ++block)
        FillFront(stage, block, width);
  }

  // Finds all ways to make the stages from `stage` on from the blocks from `block` on.
  void FillFront(int stage, int block, size_t width) {
    std::vector<int>& front = fronts_[stage][block];
    if (stage == stages_ - 1) return Offer(Extended({}, -1, stage, block, count_), stage, front);
    for (int end = block + 1; end <= count_ - (stages_ - 1 - stage); ++end)
      for (const int next : fronts_[stage + 1][end])
        Offer(Extended(parts_[next], next, stage, block, end), stage, front);
    if (front.size() <= width) return;
    std::ranges::stable_sort(front, {}, [&](int part) { return BoundOf(parts_[part], stage); });
    front.resize(width);
  }

  void Offer(const Part& part, int stage, std::vector<int>& front) {
    if (BoundOf(part, stage) > best_) return;
    for (const int other : front)
      if (parts_[other].Dominates(part)) return;
    std::erase_if(front, [&](int other) { return part.Dominates(parts_[other]); });
    front.push_back(static_cast<int>(parts_.size()));
    parts_.push_back(part);
  }

  // Puts `stage`, with the blocks from `begin` to `end`, before the part `after`.
  Part Extended(const Part& after, int next, int stage, int begin, int end) const {
    Part part = after;
    part.block = begin, part.next = next;
    const Both codec = CodecOf(stage, begin, end);
    Slow(part, {chunks_ * (forward_[end] - forward_[begin] + codec.forward),
                chunks_ * (backward_[end] - backward_[begin] + codec.backward)});
    part.ahead += codec.forward, part.behind += codec.backward;
    if (Crosses(stage)) AddLinks(part, stage, blocks_.boundary_bytes, end - 1);
    part.end = std::max(part.end, backward_[count_] - backward_[begin] + part.behind +
                                      more_ * part.backward + reduce_[end] - reduce_[begin]);
    part.step = std::max(part.step, step_[end] - step_[begin]);
    if (!limits_.empty())
      part.over =
          std::max(part.over, PeakOf(stage, begin, end) - (1 + 1e-9) * limits_[owners_[stage]]);
    return part;
  }

  // Updates the slowest forward and backward of `part` by `both`; if they alternate, by their sum.
  void Slow(Part& part, Both both) const {
    if (!apart_) both = {both.forward + both.backward, 0};
    part.forward = std::max(part.forward, both.forward);
    part.backward = std::max(part.backward, both.backward);
  }

  void AddLinks(Part& part, int stage, const std::vector<double>& bytes, int block) const {
    const double size = bytes.empty() ? 0 : bytes[block];
    const LinkModel &up = blocks_.links.Get(owners_[stage], owners_[stage + 1]),
                    &down = blocks_.links.Get(owners_[stage + 1], owners_[stage]);
    const Both carried{up.Occupied(size), down.Occupied(size)};
    part.forward = std::max(part.forward, carried.forward);
    double& backward = apart_ ? part.backward : part.forward;
    backward = std::max(backward, carried.backward);
    part.ahead += up.latency + carried.forward;
    part.behind += down.latency + carried.backward;
  }

  bool Crosses(int stage) const {
    return stage >= 0 && stage + 1 < stages_ && owners_[stage] != owners_[stage + 1];
  }

  Both CodecOf(int stage, int begin, int end) const {
    const auto at = [](const std::vector<double>& list, int i) {
      return list.empty() ? 0.0 : list[i];
    };
    Both both;
    if (Crosses(stage - 1)) both = {at(blocks_.decode, begin - 1), at(blocks_.encode, begin - 1)};
    if (Crosses(stage)) {
      both.forward += at(blocks_.encode, end - 1);
      both.backward += at(blocks_.decode, end - 1);
    }
    return both;
  }

  double PeakOf(int stage, int begin, int end) const {
    return state_[end] - state_[begin] +
           in_flight_[stage] * (activations_[end] - activations_[begin]);
  }

  // A lower bound of the time of a mini-batch whose last stages are `part`; exact if these are all
  // stages.
  Value BoundOf(const Part& part, int stage) const {
    const double forward = std::max(part.forward, Least(largest_.first, forward_, stage, part));
    const double backward = std::max(part.backward, Least(largest_.second, backward_, stage, part));
    const double end = std::max(part.end, backward_[count_] + part.behind + more_ * backward);
    return {part.over, forward_[count_] + part.ahead + more_ * forward + end + part.step};
  }

  // A lower bound of the time of the slowest of the first `stage` stages.
  double Least(const std::vector<double>& largest, const std::vector<double>& sums, int stage,
               const Part& part) const {
    if (stage == 0 || !apart_) return 0;
    return std::max(largest[part.block], sums[part.block] / stage);
  }

  const CostModel& blocks_;
  const std::vector<double>& limits_;
  const std::vector<int> owners_, in_flight_;
  const bool apart_;
  const int stages_, count_, more_;
  const double chunks_;  // per rank
  const std::vector<double> forward_, backward_, reduce_, step_, state_, activations_;
  const std::pair<std::vector<double>, std::vector<double>> largest_;
  Value best_ = kNone;
  std::vector<Part> parts_;
  std::vector<std::vector<std::vector<int>>> fronts_;  // [stage][block]: indices of parts
};

}  // namespace

bool ForwardsFirst(const Schedule& schedule) {
  if (schedule.num_ranks != schedule.num_stages) return false;
  return std::ranges::all_of(schedule.ranks, [](const std::vector<Action>& actions) {
    bool backward = false;
    return std::ranges::all_of(actions, [&](const Action& action) {
      backward = backward || IsBackward(action.kind);
      return !backward || !IsForward(action.kind);
    });
  });
}

std::vector<int> SearchCuts(const Schedule& schedule, const CostModel& blocks,
                            const std::vector<double>& limits, bool apart) {
  return Search(schedule, blocks, limits, apart).Run();
}

}  // namespace torus::parallel
