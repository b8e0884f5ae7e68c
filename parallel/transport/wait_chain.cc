#include "parallel/transport/wait_chain.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::parallel {

void WaitChain::Begin(int rank, int peer, const std::string& what) {
  ranks_[rank].peer = peer;
  ranks_[rank].what = what;
}

void WaitChain::End(int rank) { ranks_[rank].peer = -1; }

std::vector<uint64_t> WaitChain::Look() const {
  std::vector<uint64_t> counts;
  for (const Rank& rank : ranks_)
    counts.push_back(rank.progress.ticks.load(std::memory_order_relaxed));
  return counts;
}

std::vector<int> WaitChain::Chain(int rank) const {
  std::vector<int> chain;
  for (int next = ranks_[rank].peer; next >= 0 && next != rank; next = ranks_[next].peer) {
    if (std::find(chain.begin(), chain.end(), next) != chain.end()) break;
    chain.push_back(next);
  }
  return chain;
}

bool WaitChain::Moved(int rank, const std::vector<uint64_t>& before) const {
  const std::vector<int> chain = Chain(rank);
  return std::any_of(chain.begin(), chain.end(), [&](int other) {
    return ranks_[other].progress.ticks.load(std::memory_order_relaxed) != before[other];
  });
}

std::string WaitChain::Describe(int rank) const {
  const std::vector<int> chain = Chain(rank);
  if (chain.empty()) return fmt::format("rank {} waits for itself", rank);
  std::string text = fmt::format("rank {}", chain.front());
  for (const int other : chain) {
    if (ranks_[other].peer < 0) {
      const std::string& place = ranks_[other].place;
      return text + " shows no progress" + (place.empty() ? "" : fmt::format(" ({})", place));
    }
    text += fmt::format(" waits for rank {} ({});", ranks_[other].peer, ranks_[other].what);
    text += other == chain.back() ? " they wait for each other"
                                  : fmt::format(" rank {}", ranks_[other].peer);
  }
  return text;
}

namespace {

ChainDeadline::Clock::duration ToDuration(double seconds) {
  return std::chrono::duration_cast<ChainDeadline::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

ChainDeadline::ChainDeadline(const WaitChain& chain, int rank, double timeout,
                             Clock::time_point now)
    : chain_(chain),
      rank_(rank),
      timeout_(ToDuration(timeout)),
      slice_(ToDuration(std::min(timeout / 4, 1.0))),
      deadline_(now + timeout_),
      look_(now + slice_),
      seen_(chain.Look()) {}

bool ChainDeadline::Passed(Clock::time_point now) {
  if (now < look_) return false;
  deadline_ += std::max(now - look_ - slice_, Clock::duration::zero());
  look_ = now + slice_;
  if (chain_.Moved(rank_, seen_)) deadline_ = now + timeout_;
  seen_ = chain_.Look();
  return now >= deadline_;
}

}  // namespace torus::parallel
