// Turns: one order of all operations by NCCL, in which every rank launches its part of them.
// Internal to the NCCL transport.
//
// A kernel of NCCL occupies its GPU until the other members' kernels run too. If two GPUs launch
// two operations in different orders, each may wait for the other for ever; NCCL demands one order
// of launches on all devices ("Using multiple NCCL communicators concurrently" in its guide). Each
// member asks rank 0 for an operation's turn once its own side could be launched. When all members
// have asked, rank 0 gives the turn to each of them. Messages to a rank keep their order, so that
// every rank's launches are a part of rank 0's sequence. A stream waits only for operations that
// have had their turn before, so no operation can depend on a later one.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// An operation: the `number`-th message from rank `from` in a communicator, or its number-th sum.
struct Turn {
  static constexpr int32_t kSum = -1;
  int32_t communicator = 0, from = kSum;
  int64_t number = 0;
  auto operator<=>(const Turn&) const = default;
};

// All but Finish may be called by any thread, one at a time.
class Turns {
 public:
  // All ranks of `inner` construct it together.
  explicit Turns(Transport& inner);
  // Waits until rank 0 has heard that this rank has finished, if it has.
  ~Turns();

  // Adds a communicator, numbered in the order of calls. All ranks add all of them.
  void Add(std::vector<int> members);
  void Ask(const Turn& turn);
  // The next turn of this rank; empty if it has not come yet.
  std::optional<Turn> Next();

  // Tells all ranks that an operation of this rank has ended.
  void TellProgress();
  // Whether any rank has told that since the last call.
  bool TakeProgress();

  // To be called by the rank's thread at the end of a run. Rank 0 waits for the others: they may
  // still ask.
  void Finish();

 private:
  struct Message {
    bool progress = false;  // instead of a turn
    Turn turn;
  };
  struct Listening {
    Message message;
    Pending pending;
  };
  void Listen(int peer);
  void TakeMessages();
  void Take(const Message& message);
  void Count(const Turn& turn);
  void GiveIfAllHaveAsked(const Turn& turn);
  void Poll(Pending& pending);
  void Tell(int peer, const Message& message);

  Transport& inner_;
  std::vector<std::vector<int>> members_;  // by communicator
  std::map<int, Listening> listening_;     // by peer: all others for rank 0, else rank 0
  std::deque<Turn> turns_;
  std::map<Turn, size_t> asked_;  // on rank 0: members that have asked
  bool progress_ = false;
  struct Told {
    Message message;
    Pending pending;
  };
  std::map<int, std::deque<Told>> told_;  // by peer
  Pending finished_;
};

}  // namespace torus::parallel
