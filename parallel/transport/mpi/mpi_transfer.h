// MpiSend and MpiRecv: transfers that a rank has started. The rank waits here, and here a wait
// times out. The MPI transport's own part.
#pragma once

#include <mpi.h>

#include <mutex>
#include <string>
#include <vector>

#include "parallel/transport/mpi/mpi_state.h"
#include "parallel/transport/transfer_text.h"

namespace torus::parallel {

class MpiTransfer : public Pending::State {
 public:
  WaitTime Wait() override;
  bool Done() override;

 protected:
  MpiTransfer(MpiState& state, TransferText text) : state_(state), text_(std::move(text)) {}

  // All below under the lock.
  // Whether the bytes have moved. BadInput when the two sides do not fit each other.
  bool Ready();
  bool Complete();
  // As far as the system knows.
  virtual bool Moved();
  // Called once the bytes have moved.
  virtual void Finish() = 0;
  // Waits until MPI no longer uses the buffer, at most for the grace; then all processes are ended.
  void WaitOut(std::unique_lock<std::mutex>& lock);

  MpiState& state_;
  const TransferText text_;
  std::vector<MPI_Request> pieces_;    // empty: MPI does not know the buffer
  MpiClock::time_point started_ = {};  // of a send: when its receive was there
  std::string error_;
  bool done_ = false;

 private:
  void WaitUntilReady(std::unique_lock<std::mutex>& lock, MpiClock::time_point begin);
  void WaitLong(std::unique_lock<std::mutex>& lock, MpiClock::time_point begin);
  std::string Waiting(MpiClock::time_point begin) const;
  [[noreturn]] void ThrowTimeout(MpiClock::time_point begin);
  void SpeakAfterTerm(MpiClock::time_point begin);
};

class MpiSend : public MpiTransfer {
 public:
  MpiSend(MpiState& state, TransferText text, const void* data);
  ~MpiSend() override;
  // The receive is there. Called under the lock.
  void Start(const MpiRequested& request);

 private:
  void Finish() override;
  const void* const data_;
};

class MpiRecv : public MpiTransfer {
 public:
  MpiRecv(MpiState& state, TransferText text, void* data);
  ~MpiRecv() override;
  // Nothing will come. Called under the lock.
  void Refuse(const std::string& why) { error_ = why; }

 private:
  void Finish() override;
  // Takes back what no piece of the message has reached yet.
  void Withdraw();

  const int32_t channel_;
};

}  // namespace torus::parallel
