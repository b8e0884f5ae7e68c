#include "tests/parallel/schedule/shortest_v.h"

#include <string>
#include <unordered_set>

namespace torus::parallel::testing {
namespace {

// What a rank counts, in the order of a micro-batch: forwards of its earlier and later stage,
// backwards to the inputs of the later and earlier one, then to the weights likewise. A stage's
// micro-batches are alike, so their order is left out.
enum Count { kForward0, kForward1, kInput1, kInput0, kWeight1, kWeight0, kCounts };

// Of each rank, kCounts characters.
using State = std::string;
using States = std::unordered_set<State>;

class Search {
 public:
  Search(int ranks, int micro_batches, int in_flight)
      : ranks_(ranks), micro_batches_(micro_batches), in_flight_(in_flight) {}

  int Run(int at_most) {
    States now{State(ranks_ * kCounts, 0)}, next;
    for (int slot = 0; slot < at_most; ++slot, now.swap(next), next.clear()) {
      left_ = at_most - slot - 1;
      for (const State& state : now) Step(state, 0, state, next);
      if (next.contains(State(ranks_ * kCounts, static_cast<char>(micro_batches_))))
        return slot + 1;
    }
    return 0;
  }

 private:
  static int Of(const State& state, int rank, int count) { return state[rank * kCounts + count]; }

  // How many micro-batches have come so far that the rank may run `count` on them.
  int Arrived(const State& state, int rank, int count) const {
    if (count >= kWeight1) return Of(state, rank, count - 2);
    const int from = count % 2 == 0 ? rank - 1 : rank + 1;
    if (from >= 0 && from < ranks_) return Of(state, from, count);
    return count == kForward0 ? micro_batches_ : Of(state, rank, count - 1);
  }

  bool HasRoom(const State& state, int rank) const {
    return Of(state, rank, kForward0) + Of(state, rank, kForward1) - Of(state, rank, kWeight1) -
               Of(state, rank, kWeight0) <
           in_flight_;
  }

  int Ran(const State& state, int rank) const {
    int ran = 0;
    for (int count = 0; count < kCounts; ++count) ran += Of(state, rank, count);
    return ran;
  }

  // Adds to `all` what can be after a slot that `before` begins, in which the ranks before `rank`
  // have done what `after` says. A backward takes no room, so a rank that can run one never idles:
  // an idle slot before it could be exchanged with it.
  void Step(const State& before, int rank, const State& after, States& all) const {
    if (rank == ranks_) {
      all.insert(after);
      return;
    }
    bool backward = false;
    for (int count = 0; count < kCounts; ++count) {
      const bool forward = count <= kForward1;
      if (Of(before, rank, count) >= Arrived(before, rank, count)) continue;
      if (forward && !HasRoom(before, rank)) continue;
      backward |= !forward;
      State done = after;
      ++done[rank * kCounts + count];
      Go(before, rank, done, all);
    }
    if (!backward) Go(before, rank, after, all);
  }

  // Leaves out what cannot end in time.
  void Go(const State& before, int rank, const State& after, States& all) const {
    if (kCounts * micro_batches_ - Ran(after, rank) <= left_) Step(before, rank + 1, after, all);
  }

  const int ranks_, micro_batches_, in_flight_;
  int left_ = 0;  // slots after this one
};

}  // namespace

int ShortestV(int ranks, int micro_batches, int in_flight, int at_most) {
  return Search(ranks, micro_batches, in_flight).Run(at_most);
}

}  // namespace torus::parallel::testing
