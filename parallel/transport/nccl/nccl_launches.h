// NcclLaunches: the communicators of a rank, and the operations in them. Internal to the NCCL
// transport.
//
// An operation is put in with what its stream holds then, and launched when it has its turn
// (turns.h), by whichever thread calls Pump then: the rank's own while it waits, else the
// watchdog's. The watchdog also calls Watch, which aborts the run if a communicator has failed, or
// if no GPU of the run has ended an operation for the timeout although one of this rank is
// launched. The rank's own thread may be blocked in a call of CUDA's all that time.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "parallel/transport/nccl/nccl_library.h"
#include "parallel/transport/nccl/turns.h"

namespace torus::parallel {

// This rank's side of an operation.
class NcclLaunch {
 public:
  using Start = std::function<std::unique_ptr<NcclWork>(NcclComm& comm, NcclWork& after)>;
  bool launched() const { return launched_.load(std::memory_order_acquire); }
  bool Done() { return launched() && work_->Done(); }
  NcclWork& work() { return *work_; }  // once it is launched

 private:
  friend class NcclLaunches;
  std::string waiting_;
  NcclComm* comm_ = nullptr;
  std::unique_ptr<NcclWork> after_, work_;
  Start start_;
  std::atomic<bool> launched_ = false;
};

class NcclLaunches {
 public:
  // All ranks of `inner` construct it together. `timeout` in seconds.
  NcclLaunches(Transport& inner, NcclLibrary& library, Device device, double timeout);
  ~NcclLaunches();  // as End

  // Adds the next communicator and returns its number (Turns::Add). `comm` is null where this rank
  // is no member.
  int Add(std::vector<int> members, std::unique_ptr<NcclComm> comm);

  // `start` launches the operation, to run after what `stream` holds now. `waiting` is for errors:
  // "waiting for rank 2 to send ...".
  std::shared_ptr<NcclLaunch> Put(const Turn& turn, StreamHandle stream, std::string waiting,
                                  NcclLaunch::Start start);
  // Waits until it is launched. Until then other members may not have come: the caller has waited
  // for them, or others do, with deadlines of the transport beneath.
  void WaitUntilLaunched(NcclLaunch& launch);
  // Waits until `work`, which is `launch` or comes behind it, has ended.
  WaitTime WaitForEnd(NcclLaunch& launch, NcclWork& work);
  WaitTime WaitForEnd(NcclLaunch& launch);

  // Launches what has its turn.
  void Pump();
  void Watch();
  void Abort(const std::string& reason) { inner_.Abort(reason); }
  // Aborts the run, and the communicators before it returns, because an operation was dropped.
  void Drop() noexcept;
  // Aborts the communicators: nothing is launched any more, and no memory is used.
  void End() noexcept;
  // Waits until rank 0 and this rank need each other no more (Turns::Finish).
  void Finish() { turns_.Finish(); }

 private:
  using Clock = std::chrono::steady_clock;
  void LaunchNext(const Turn& turn);
  void CheckAll();
  bool Stalled(Clock::time_point now);
  void ThrowIfFailed(NcclLaunch& launch) const;
  std::string Gave(const NcclLaunch& launch, double waited) const;

  Transport& inner_;
  NcclLibrary& library_;
  const Device device_;
  const double timeout_;
  std::mutex mutex_;
  Turns turns_;
  std::vector<std::unique_ptr<NcclComm>> comms_;
  std::map<Turn, std::shared_ptr<NcclLaunch>> waiting_;  // for their turns
  std::deque<std::shared_ptr<NcclLaunch>> running_;      // launched, not seen to have ended
  Clock::time_point moved_ = Clock::now();  // when an operation of any rank was last seen to end
  bool ended_ = false;                      // by End
};

}  // namespace torus::parallel
