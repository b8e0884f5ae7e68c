// Applies merges within one piece of text, in order of rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace torus::data {
namespace internal {

inline constexpr uint32_t kNone = UINT32_MAX;

// Scans all pairs of neighbours before each merge: quadratic in the length, but the fastest for a
// word.
template <class Find, class Result>
void ApplyToWord(const Find& find, const Result& result, std::vector<uint32_t>* symbols) {
  std::vector<uint32_t>& s = *symbols;
  uint32_t ranks[64];  // [i]: of merging s[i] and s[i + 1]
  size_t pairs = s.size() - 1;
  for (size_t i = 0; i < pairs; ++i) ranks[i] = find(s[i], s[i + 1]);
  while (pairs > 0) {
    const size_t best = std::min_element(ranks, ranks + pairs) - ranks;
    if (ranks[best] == kNone) break;
    s[best] = result(ranks[best]);
    s.erase(s.begin() + static_cast<ptrdiff_t>(best) + 1);
    std::copy(ranks + best + 1, ranks + pairs, ranks + best);
    --pairs;
    if (best > 0) ranks[best - 1] = find(s[best - 1], s[best]);
    if (best < pairs) ranks[best] = find(s[best], s[best + 1]);
  }
}

// Keeps the pairs of neighbours in a heap, and the symbols in a linked list: O(n log n).
template <class Find, class Result>
class LongPiece {
 public:
  LongPiece(const Find& find, const Result& result, std::vector<uint32_t>* symbols)
      : find_(find), result_(result), s_(*symbols), next_(s_.size()), previous_(s_.size()) {
    for (size_t i = 0; i < s_.size(); ++i) {
      next_[i] = i + 1;
      previous_[i] = i - 1;  // for the first one: kEnd
    }
    for (size_t i = 0; i < s_.size(); ++i) Push(i);
  }

  void Run() {
    while (!heap_.empty()) {
      const auto [rank, left] = heap_.top();
      heap_.pop();
      // The pair is out of date if one of the two has been merged since.
      if (s_[left] == kNone || RankOf(left) != rank) continue;
      Join(left, result_(rank));
    }
    s_.erase(std::remove(s_.begin(), s_.end(), kNone), s_.end());
  }

 private:
  static constexpr size_t kEnd = SIZE_MAX;

  uint32_t RankOf(size_t left) const {
    return next_[left] < s_.size() ? find_(s_[left], s_[next_[left]]) : kNone;
  }
  void Push(size_t left) {
    const uint32_t rank = RankOf(left);
    if (rank != kNone) heap_.emplace(rank, left);
  }
  void Join(size_t left, uint32_t merged) {
    const size_t right = next_[left];
    s_[left] = merged;
    s_[right] = kNone;
    next_[left] = next_[right];
    if (next_[left] < s_.size()) previous_[next_[left]] = left;
    if (previous_[left] != kEnd) Push(previous_[left]);
    Push(left);
  }

  using Candidate = std::pair<uint32_t, size_t>;  // the rank, position of the left symbol

  const Find& find_;
  const Result& result_;
  std::vector<uint32_t>& s_;  // kNone: merged into an earlier one
  std::vector<size_t> next_, previous_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap_;
};

}  // namespace internal

// Repeatedly replaces two neighbours by result(rank), where rank = find(left, right), choosing the
// lowest rank and then the leftmost pair, until find returns UINT32_MAX for all pairs. (Algorithm 1
// replaces all pairs of the lowest rank at once; the symbols are the same, because only one pair
// has a rank.)
template <class Find, class Result>
void ApplyMerges(const Find& find, const Result& result, std::vector<uint32_t>* symbols) {
  if (symbols->size() < 2) return;
  if (symbols->size() <= 64) {
    internal::ApplyToWord(find, result, symbols);
  } else {
    internal::LongPiece(find, result, symbols).Run();
  }
}

}  // namespace torus::data
