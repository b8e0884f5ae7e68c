#include "parallel/codec/sampled_statistics.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "parallel/codec/count_and_gather.h"
#include "parallel/codec/pick_keys.h"
#include "parallel/codec/sampled_brackets.h"
#include "parallel/codec/value_key.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr int64_t kLeastValues = 1 << 17;
constexpr size_t kMostRanks = 8;
constexpr int64_t kBlocksPerThread = 16;  // fewer are not worth waking a thread
constexpr int64_t kGatherOneIn = 4;       // at most one of so many values is gathered

// The pass over the values, in as many parts as there are threads.
class Pass {
 public:
  Pass(std::span<const float> values, const Brackets& brackets)
      : values_(values),
        brackets_(brackets),
        blocks_((static_cast<int64_t>(values.size()) + kGatherBlock - 1) / kGatherBlock),
        parts_(std::clamp<int64_t>(blocks_ / kBlocksPerThread, 1, TeamSize())),
        room_(kGatherBlock * (blocks_ / parts_ / kGatherOneIn + 2)),
        memory_(static_cast<size_t>(parts_ * (room_ + kGatherSlack)) * 2 * sizeof(float), Device{}),
        at_least_(static_cast<size_t>(blocks_ * brackets.size())),
        gathered_(static_cast<size_t>(parts_)) {
    ParallelFor(parts_, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) Run(part);
    });
    totals_.assign(brackets.thresholds.size() + 1, 0);
    for (size_t i = 0; i < at_least_.size(); ++i) totals_[i % brackets.size()] += at_least_[i];
  }

  bool finite() const { return std::ranges::all_of(gathered_, &Gathered::finite); }
  bool fits() const { return std::ranges::all_of(gathered_, &Gathered::fits); }
  // The number of values below a region, and in it.
  int64_t Below(int region) const { return static_cast<int64_t>(values_.size()) - totals_[region]; }
  int64_t Count(int region) const { return totals_[region] - totals_[region + 1]; }

  // The keys of the values in an even-numbered region.
  std::vector<uint64_t> KeysIn(int region) const {
    const float begin = brackets_.thresholds[region], end = brackets_.EndOf(region);
    std::vector<uint64_t> keys(static_cast<size_t>(Count(region)) + 1);
    size_t found = 0;
    for (const Gathered& part : gathered_)
      for (int64_t i = 0; i < part.count; ++i) {
        const float value = part.values[i];
        keys[found] = ValueKey(value, part.indices[i]);
        found += value >= begin && value < end;
      }
    keys.resize(found);
    return keys;
  }

  // The index of the value at `rank` within a region of equal values.
  uint32_t IndexInTie(int region, int64_t rank) const {
    int64_t block = 0;
    for (int64_t here; rank >= (here = InBlock(block, region)); ++block) rank -= here;
    size_t i = static_cast<size_t>(block * kGatherBlock);
    for (;; ++i)
      if (values_[i] == brackets_.thresholds[region] && rank-- == 0)
        return static_cast<uint32_t>(i);
  }

  // The index of the least value, the first if there are several.
  uint32_t FirstLeast() const {
    const auto by_value = [](const Gathered& g) { return g.least.value; };
    const Extreme least = std::ranges::min_element(gathered_, {}, by_value)->least;
    size_t i = static_cast<size_t>(least.block * kGatherBlock);
    while (values_[i] != least.value) ++i;
    return static_cast<uint32_t>(i);
  }

  // The index of the greatest value, the last if there are several.
  uint32_t LastGreatest() const {
    const auto by_value = [](const Gathered& g) { return g.greatest.value; };
    const Extreme greatest =
        std::ranges::max_element(std::views::reverse(gathered_), {}, by_value)->greatest;
    size_t i = std::min(values_.size(), static_cast<size_t>((greatest.block + 1) * kGatherBlock));
    while (values_[--i] != greatest.value) {
    }
    return static_cast<uint32_t>(i);
  }

 private:
  void Run(int64_t part) {
    const int64_t first = blocks_ * part / parts_, last = blocks_ * (part + 1) / parts_;
    float* const memory = static_cast<float*>(memory_.data()) + part * 2 * (room_ + kGatherSlack);
    Gathered own{.values = memory,
                 .indices = reinterpret_cast<uint32_t*>(memory + room_ + kGatherSlack),
                 .room = room_};
    const int64_t end = std::min(static_cast<int64_t>(values_.size()), last * kGatherBlock);
    CountAndGather(values_.data(), first * kGatherBlock, end, brackets_.thresholds,
                   at_least_.data() + first * brackets_.size(), own);
    gathered_[part] = own;
  }

  int64_t InBlock(int64_t block, int region) const {
    const uint32_t* const counts =
        &at_least_[static_cast<size_t>(block * brackets_.size() + region)];
    return int64_t{counts[0]} - counts[1];
  }

  std::span<const float> values_;
  const Brackets& brackets_;
  int64_t blocks_, parts_, room_;
  Storage memory_;  // [part][values, indices]
  std::vector<uint32_t> at_least_;
  std::vector<Gathered> gathered_;
  std::vector<int64_t> totals_;  // values at least at each threshold; then 0
};

// Wanted ranks that lie in the same region.
struct Group {
  int region = 0;
  size_t first = 0, count = 0;
};

// Empty if a rank lies in a region that was neither gathered nor tied.
std::vector<Group> GroupRanks(std::span<const int64_t> ranks, const Brackets& brackets,
                              const Pass& pass) {
  std::vector<Group> groups;
  size_t next = 0;
  for (int region = 0; region < brackets.size() && next < ranks.size(); ++region) {
    const int64_t below = pass.Below(region), end = below + pass.Count(region);
    Group group{region, next, 0};
    for (; next < ranks.size() && ranks[next] >= below && ranks[next] < end; ++next) ++group.count;
    if (group.count == 0) continue;
    if (region % 2 == 1 && !brackets.tied[region]) return {};
    groups.push_back(group);
  }
  if (next < ranks.size()) return {};
  return groups;
}

void Select(const Group& group, const Pass& pass, std::span<const int64_t> ranks,
            std::span<uint32_t> out) {
  std::vector<int64_t> within(ranks.begin() + group.first,
                              ranks.begin() + group.first + group.count);
  for (int64_t& rank : within) rank -= pass.Below(group.region);
  const auto to = out.subspan(group.first, group.count);
  if (group.region % 2 == 1) {
    const auto in_tie = [&](int64_t rank) { return pass.IndexInTie(group.region, rank); };
    std::ranges::transform(within, to.begin(), in_tie);
    return;
  }
  std::vector<uint64_t> picked(group.count);
  PickKeys(pass.KeysIn(group.region), within, picked);
  std::ranges::transform(picked, to.begin(), IndexOfKey);
}

// The ranks between the least and the greatest value: [begin, end) of all ranks.
struct Inner {
  size_t begin, end;
};

Inner InnerRanks(std::span<const int64_t> ranks, int64_t count) {
  const auto begin = std::ranges::upper_bound(ranks, 0);
  const auto end = std::ranges::lower_bound(ranks, count - 1);
  return {static_cast<size_t>(begin - ranks.begin()), static_cast<size_t>(end - ranks.begin())};
}

}  // namespace

Sampled SampledStatistics(std::span<const float> values, std::span<const int64_t> ranks,
                          std::span<uint32_t> out) {
  const int64_t count = static_cast<int64_t>(values.size());
  if (count < kLeastValues || ranks.size() > kMostRanks) return Sampled::kMissed;
  const auto [begin, end] = InnerRanks(ranks, count);
  const auto inner = ranks.subspan(begin, end - begin);
  const auto brackets = GuessBrackets(values, inner);
  if (!brackets) return Sampled::kMissed;
  const Pass pass(values, *brackets);
  if (!pass.fits()) return Sampled::kMissed;
  if (!pass.finite()) return Sampled::kNotFinite;
  const std::vector<Group> groups = GroupRanks(inner, *brackets, pass);
  if (groups.empty() && !inner.empty()) return Sampled::kMissed;
  ParallelFor(static_cast<int64_t>(groups.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) Select(groups[g], pass, inner, out.subspan(begin));
  });
  if (begin > 0) std::ranges::fill(out.first(begin), pass.FirstLeast());
  if (end < ranks.size()) std::ranges::fill(out.subspan(end), pass.LastGreatest());
  return Sampled::kFound;
}

}  // namespace torus::parallel
