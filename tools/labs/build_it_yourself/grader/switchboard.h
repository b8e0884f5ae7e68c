// Forwards what the ranks of a test send each other, and keeps count. It knows no processes: heads
// go in, answers come out. Time is a virtual clock of each rank, moved on by the work that it says
// it does and by waiting for messages, so it is the same on every machine and in every run.
//
// What it holds for a rank is bounded: kMostHeld bytes, heads included, of messages under way, and
// as many of what the rank has told of itself (work, facts, its terms of sums).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/rank/lab_protocol.h"

namespace torus::tools::labs {

// Every two ranks have one of their own in each direction, and all ranks one for sums.
struct Link {
  double latency = 0;  // seconds
  double bytes_per_second = std::numeric_limits<double>::infinity();
};

// Work on the virtual clock.
struct Span {
  std::string what;
  double begin = 0, end = 0;  // seconds
};

// A sum over all ranks that a rank has begun.
struct SumBegun {
  uint64_t bytes = 0;
  double at = 0;  // seconds
};

struct RankRecord {
  std::map<int, uint64_t> sent_to;  // bytes, by rank
  uint64_t bytes_sent = 0, largest_message = 0;
  int64_t messages = 0;
  int64_t steps = 0;  // longest chain of messages, each sent after the one before came, so far
  double clock = 0;   // seconds
  std::vector<SumBegun> sums;
  std::vector<Span> work;
  std::map<std::string, double> facts;
  std::vector<float> result;
  bool done = false;  // with its result
};

constexpr uint64_t kMostHeld = uint64_t{64} << 20;

class Switchboard {
 public:
  // Puts an answer for `rank` on its way.
  using Answer = std::function<void(int rank, const lab::Head& head, std::vector<char> payload)>;
  Switchboard(int ranks, Link link, Answer answer);

  // Takes what `rank` says. A reason comes back where that ends the test: a rank that does not
  // exist, a length that is not the message's, more than may be held, an exception.
  std::optional<std::string> Take(int rank, const lab::Head& head, std::vector<char> payload);

  // Who waits for whom, where no rank that is not done can go on.
  std::optional<std::string> Deadlock() const;
  // Messages that came and were not received.
  std::optional<std::string> Unread() const;

  const std::vector<RankRecord>& records() const { return records_; }
  std::vector<RankRecord>& records() { return records_; }

 private:
  struct Message {
    std::vector<char> payload;
    double arrival = 0;
    int64_t steps = 0;
  };
  struct Wait {
    enum For { kNothing, kMessage, kSum } what = kNothing;
    int number = 0;  // the rank, or the sum
    uint64_t bytes = 0;
  };
  struct Sum {
    std::vector<float> total;
    int first = 0;  // rank that began it
    int terms = 0;
    double begin = 0, end = 0;
  };
  using Problem = std::optional<std::string>;

  Problem Tell(int rank, size_t bytes);
  Problem Send(int rank, int to, std::vector<char> payload);
  Problem Recv(int rank, const lab::Head& head);
  Problem Deliver(int rank);
  Problem StartSum(int rank, const std::vector<char>& payload);
  void EndSum(Sum& sum);
  Problem WaitSum(int rank, const lab::Head& head);
  Problem DeliverSum(int rank);
  std::string WithoutSum(int number) const;
  void Compute(int rank, const lab::Head& head, const std::vector<char>& payload);
  bool IsOther(int rank, int peer) const;
  int ranks() const { return static_cast<int>(records_.size()); }

  const Link link_;
  const Answer answer_;
  std::vector<RankRecord> records_;
  std::vector<std::vector<std::deque<Message>>> under_way_;  // [from][to]
  std::vector<std::vector<double>> link_free_;               // [from][to], seconds
  std::vector<uint64_t> unread_, told_;                      // bytes, by rank
  std::vector<Wait> waits_;
  std::vector<Sum> sums_;
  double sum_link_free_ = 0;
};

}  // namespace torus::tools::labs
