// Switchboard: forwards the messages between the ranks of a test, and counts them. It does not deal
// with processes: heads go in, answers come out. Each rank has a virtual clock, which is advanced
// by the work that the rank reports and by waits for messages. So times are the same on every
// machine and in every run.
//
// Memory is limited: for each rank it holds at most kMostHeld bytes, including heads, of messages
// that are not received yet, and as many of what the rank has reported (work, facts, its terms of
// sums).
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

// There is one link for each pair of ranks and direction, and one for the sums of all ranks.
struct Link {
  double latency = 0;  // seconds
  double bytes_per_second = std::numeric_limits<double>::infinity();
};

// Work on the virtual clock.
struct Span {
  std::string what;
  double begin = 0, end = 0;  // seconds
};

// A sum over all ranks, as started by one rank.
struct SumBegun {
  uint64_t bytes = 0;
  double at = 0;  // seconds
};

struct RankRecord {
  std::map<int, uint64_t> sent_to;  // bytes, by rank
  uint64_t bytes_sent = 0, largest_message = 0;
  int64_t messages = 0;
  int64_t steps = 0;  // longest chain of messages, each sent after the one before it arrived
  double clock = 0;   // seconds
  std::vector<SumBegun> sums;
  std::vector<Span> work;
  std::map<std::string, double> facts;
  std::vector<float> result;
  bool done = false;  // has sent its result
};

constexpr uint64_t kMostHeld = uint64_t{64} << 20;

class Switchboard {
 public:
  // Sends an answer to `rank`.
  using Answer = std::function<void(int rank, const lab::Head& head, std::vector<char> payload)>;
  Switchboard(int ranks, Link link, Answer answer);

  // Handles a head from `rank`. Returns a reason if it ends the test: a peer that does not exist, a
  // length other than the message's, more bytes than may be held, or an exception in the rank.
  std::optional<std::string> Take(int rank, const lab::Head& head, std::vector<char> payload);

  // Says who waits for whom, if all ranks that are not done wait without end.
  std::optional<std::string> Deadlock() const;
  // Names messages that were sent but not received, if there are any.
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
    int number = 0;  // of the rank or the sum
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
