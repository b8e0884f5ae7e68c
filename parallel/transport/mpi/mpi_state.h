// MpiState: what a process knows of an MpiWorld. The MPI transport's own part.
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

// A receive of another rank that no send of this one has met yet.
struct MpiRequested {
  static constexpr int32_t kWithdrawn = -1;
  int32_t channel = 0;  // or kWithdrawn: it keeps its place, and what meets it never arrives
  uint64_t bytes = 0;
  std::string what;
};

// The caller holds `mutex` for everything that is not const or atomic.
struct MpiState {
  MpiState(MPI_Comm comm, MpiOptions options);
  ~MpiState();

  using Key = std::tuple<int, TagClass, int32_t, bool>;  // peer, tag
  static Key KeyOf(int peer, Tag tag) { return {peer, tag.kind, tag.number, tag.stamp}; }

  // Sends a control message. It does not wait.
  void Tell(int peer, const MpiControl& control);
  void TellOthers(const MpiControl& control);
  // Takes the control messages that have come, and tells others of this rank's progress when it is
  // time.
  void Pump();
  void Beat();
  // Before WaitChain::Describe: who has said nothing for half the timeout waits for nobody,
  // whatever it said last.
  void ForgetSilent();
  // Pump, for callers that do not hold the mutex; throws where the run is aborted.
  void PumpAndCheck();

  // As Transport::Abort of rank `by`, -1: of no rank. The first call has an effect.
  void Abort(int by, const std::string& reason);
  [[noreturn]] void ThrowAborted(const std::string& waiting) const;

  int32_t NextChannel();
  Pieces PiecesOf(int peer, int32_t channel) const {
    return {comm, peer, channel, options.longest_piece};
  }
  // Somebody has taken the buffer of a receive's last `bytes` back. They may be under way, and
  // their sender wait for it: they go to memory of the world's own.
  void Abandon(int peer, int32_t channel, size_t bytes);

  bool idle() const { return outgoing_.empty(); }  // all that was told is under way

  std::mutex& mutex;
  const MPI_Comm comm;
  const int rank, size;
  const MpiOptions options;
  const int32_t engine_tag;  // of what MPI itself sends while it makes a communicator of some ranks
  std::string name;          // "rank 0 on host a"
  bool crowded = false;      // this host has more ranks than cores
  WaitChain chain;
  std::atomic<bool> aborted{false};  // set after the two below
  int aborted_by = -1;
  std::string reason;
  std::vector<char> left;      // one a rank: it has nothing more to tell those that have left too
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
    std::vector<MPI_Request> pieces;
    std::unique_ptr<char[]> data;
  };
  std::vector<MpiClock::time_point> heard_;  // when each rank's last beat came
  std::deque<Outgoing> outgoing_;
  std::vector<Abandoned> abandoned_;
  const int32_t channels_;  // MPI tags, used in turn
  int32_t last_channel_ = 0;
  const MpiClock::duration beat_interval_;
  MpiClock::time_point next_beat_ = {}, next_tick_ = {};
};

}  // namespace torus::parallel
