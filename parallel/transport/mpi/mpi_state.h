// MpiState: the state of an MpiWorld in one process. Internal to the MPI transport.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/transport/mpi/control.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "parallel/transport/mpi/pieces.h"
#include "parallel/transport/wait_chain.h"

namespace torus::parallel {

using MpiClock = std::chrono::steady_clock;

class MpiSend;
class MpiRecv;

// Another rank's receive that is not yet matched by a send of this rank.
struct MpiRequested {
  static constexpr int32_t kWithdrawn = -1;
  // kWithdrawn if cancelled: it keeps its place, and a send matched with it never arrives.
  int32_t channel = 0;
  uint64_t bytes = 0;
  std::string what;
};

// The caller holds `mutex` for everything that is not const or atomic.
struct MpiState {
  MpiState(MPI_Comm comm, MpiOptions options);
  ~MpiState();

  using Key = std::tuple<int, TagClass, int32_t, bool>;  // peer, tag
  static Key KeyOf(int peer, Tag tag) { return {peer, tag.kind, tag.number, tag.stamp}; }

  // Sends a control message without waiting.
  void Tell(int peer, const MpiControl& control);
  void TellOthers(const MpiControl& control);
  // Handles the control messages that have arrived, and sends a heartbeat when one is due.
  void Pump();
  void Beat();
  // To be called before WaitChain::Describe: ranks that have sent nothing for half the timeout
  // count as waiting for nobody, whatever they last reported.
  void ForgetSilent();
  // Pump for callers that do not hold the mutex. Throws if the run is aborted.
  void PumpAndCheck();

  // As Transport::Abort called by rank `by`; -1 if no single rank is the cause. Only the first call
  // has an effect.
  void Abort(int by, const std::string& reason);
  [[noreturn]] void ThrowAborted(const std::string& waiting) const;

  // When something was last heard of `rank`: a heartbeat, at least one a second while it runs.
  MpiClock::time_point heard(int rank) const { return heard_[rank]; }

  // A number for a receive from `peer` that no other receive from it has: those that are open keep
  // theirs however long they wait.
  int32_t NextChannel(int peer);
  Pieces PiecesOf(int peer, int32_t channel) const {
    return {comm, peer, channel, options.longest_piece};
  }
  // The buffer for the last `bytes` of a receive is no longer available, but they may be in flight
  // and their sender may wait for the receive. Receives them into memory that the world owns.
  void Abandon(int peer, int32_t channel, size_t bytes);

  bool idle() const { return outgoing_.empty(); }  // MPI has taken all control messages

  std::mutex& mutex;
  const MPI_Comm comm;
  const int rank, size;
  const MpiOptions options;
  const int32_t engine_tag;  // for what MPI sends while it creates a communicator of some ranks
  std::string name;          // "rank 0 on host a"
  bool crowded = false;      // SharesCores (meeting.h)
  WaitChain chain;
  std::atomic<bool> aborted{false};  // set after the two below
  int aborted_by = -1;
  std::string reason;
  std::vector<char> left;  // per rank: has left; those that have left no longer message each other
  std::vector<uint64_t> sent;  // [peer][class]
  std::map<Key, std::deque<MpiRequested>> requested;
  std::map<Key, std::deque<MpiSend*>> sends;             // not yet requested; null: withdrawn
  std::map<std::pair<int, int32_t>, MpiRecv*> receives;  // by peer and channel
  bool spoke_after_term = false;

 private:
  void Take(int from, MpiControl control);
  void TakeRequest(int from, MpiControl control);
  void TakeWithdrawal(int from, const MpiControl& control);
  void NoteAbort(int by, const std::string& reason);

  struct Outgoing {
    MPI_Request request;
    std::vector<char> bytes;
  };
  struct Abandoned {
    std::pair<int, int32_t> from;  // peer and channel
    std::vector<MPI_Request> pieces;
    std::unique_ptr<char[]> data;
  };
  std::vector<MpiClock::time_point> heard_;  // when each rank's last heartbeat came
  std::deque<Outgoing> outgoing_;
  std::vector<Abandoned> abandoned_;
  const int32_t channels_;             // MPI tags, used in turn
  std::vector<int32_t> last_channel_;  // [peer]
  const MpiClock::duration beat_interval_;
  MpiClock::time_point next_beat_ = {}, next_tick_ = {};
};

}  // namespace torus::parallel
