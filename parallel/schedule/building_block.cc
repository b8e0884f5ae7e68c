#include "parallel/schedule/building_block.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "parallel/schedule/v_shape.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Passes 0 and 3 are of the stages on the way down, chunk 0.
constexpr int kPasses = 4;
int ChunkOf(int pass) { return pass == 0 || pass == 3 ? 0 : 1; }
bool GoesDown(int pass) { return pass % 2 == 0; }
ActionKind KindOf(int pass) { return pass < 2 ? ActionKind::kForward : ActionKind::kBackwardInput; }

using Counts = std::array<int, kPasses>;  // of micro-batches that have taken each pass

// The pass that a rank runs in a slot where the block is repeated as it is.
std::optional<int> PassIn(int slot, const std::array<int, kPasses>& starts) {
  for (int pass = 0; pass < kPasses; ++pass)
    if (slot >= starts[pass] && (slot - starts[pass]) % kPeriod == 0) return pass;
  return std::nullopt;
}

// How many micro-batches each stage of a rank holds at most where the block is repeated as it is.
// Two periods after the last pass of the first micro-batch, periods are alike.
std::array<int, 2> MostHeld(const std::array<int, kPasses>& starts) {
  std::array<int, 2> held{}, most{};
  std::deque<int> put_off;
  for (int slot = 0; slot < starts.back() + 2 * kPeriod; ++slot) {
    const std::optional<int> pass = PassIn(slot, starts);
    if (pass && *pass >= 2) put_off.push_back(ChunkOf(*pass));
    if (pass && *pass < 2) ++held[ChunkOf(*pass)];
    if (!pass && !put_off.empty()) {
      --held[put_off.front()];
      put_off.pop_front();
    }
    for (int chunk = 0; chunk < 2; ++chunk) most[chunk] = std::max(most[chunk], held[chunk]);
  }
  return most;
}

class Repeater {
 public:
  Repeater(const char* name, const PipelineSize& size, const BuildingBlock& block)
      : size_(size),
        block_(block),
        schedule_{name, size.ranks, size.stages(), size.micro_batches, {}},
        done_(size.ranks),
        put_off_(size.ranks) {
    for (int rank = 0; rank < size.ranks; ++rank) {
      lists_.emplace_back(size, rank);
      most_.push_back(MostHeld(block.starts[rank]));
    }
  }

  Schedule Run() {
    int64_t left = int64_t{kPeriod} * size_.micro_batches * size_.ranks;
    const int64_t latest = left + block_.starts.front().back() + kPeriod;
    for (int64_t slot = 0; left > 0; ++slot) {
      TORUS_CHECK(slot < latest);
      const std::vector<Counts> before = done_;
      for (int rank = 0; rank < size_.ranks; ++rank) left -= RunSlot(rank, slot, before);
    }
    for (VRank& list : lists_) schedule_.ranks.push_back(std::move(list.actions));
    return std::move(schedule_);
  }

 private:
  // Returns whether the rank does anything in the slot.
  bool RunSlot(int rank, int64_t slot, const std::vector<Counts>& before) {
    std::deque<int>& put_off = put_off_[rank];
    if (const std::optional<int> pass = FirstReady(rank, slot, before)) {
      ++done_[rank][*pass];
      lists_[rank].Add(KindOf(*pass), ChunkOf(*pass));
      if (*pass >= 2) put_off.push_back(ChunkOf(*pass));
      return true;
    }
    if (put_off.empty()) return false;
    lists_[rank].Add(ActionKind::kBackwardWeight, put_off.front());
    put_off.pop_front();
    return true;
  }

  int64_t OwnSlot(int rank, int pass) const {
    return block_.starts[rank][pass] + int64_t{kPeriod} * done_[rank][pass];
  }

  std::optional<int> FirstReady(int rank, int64_t slot, const std::vector<Counts>& before) const {
    std::optional<int> first;
    for (int pass = 0; pass < kPasses; ++pass) {
      const int micro_batch = done_[rank][pass];
      const bool ready = micro_batch < size_.micro_batches &&
                         micro_batch < Arrived(rank, pass, before) &&
                         (pass >= 2 || MayForward(rank, pass, slot));
      if (ready && (!first || OwnSlot(rank, pass) < OwnSlot(rank, *first))) first = pass;
    }
    return first;
  }

  // How many micro-batches the rank before, on the way down or up, has passed on.
  int Arrived(int rank, int pass, const std::vector<Counts>& before) const {
    const int from = GoesDown(pass) ? rank - 1 : rank + 1;
    if (from >= 0 && from < size_.ranks) return before[from][pass];
    return pass == 0 ? size_.micro_batches : before[rank][pass - 1];
  }

  bool MayForward(int rank, int pass, int64_t slot) const {
    const int here = Held(rank, ChunkOf(pass)), there = Held(rank, 1 - ChunkOf(pass));
    return slot + block_.ahead >= OwnSlot(rank, pass) && here < most_[rank][ChunkOf(pass)] &&
           here + there < block_.in_flight;
  }

  // How many micro-batches the stage holds: those whose gradients of weights have not come.
  int Held(int rank, int chunk) const {
    int held = done_[rank][chunk] - done_[rank][3 - chunk];
    for (const int one : put_off_[rank]) held += one == chunk;
    return held;
  }

  const PipelineSize size_;
  const BuildingBlock& block_;
  Schedule schedule_;
  std::vector<VRank> lists_;
  std::vector<Counts> done_;
  std::vector<std::array<int, 2>> most_;  // that each stage may hold
  std::vector<std::deque<int>> put_off_;  // chunks, of halves for the weights
};

}  // namespace

Schedule RepeatBlock(const char* name, const PipelineSize& size, const BuildingBlock& block) {
  CheckVShape(name, size);
  return Repeater(name, size, block).Run();
}

}  // namespace torus::parallel
