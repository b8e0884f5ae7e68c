// MpiSend and MpiRecv: transfers that a rank has started. Wait blocks the rank and enforces the
// deadline. Internal to the MPI transport.
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

  // The functions below are called under the lock.

  // Whether the transfer is complete. Throws BadInput if the sizes of the two sides differ.
  bool Ready();
  bool Complete();
  // Whether MPI (or the shared memory) reports the bytes as moved.
  virtual bool Moved();
  // Called once the bytes have moved.
  virtual void Finish() = 0;
  // Waits until MPI no longer uses the buffer. After the grace period it ends all processes.
  void WaitOut(std::unique_lock<std::mutex>& lock);

  // For constructors and destructors: ends all processes, with a line that says `what` failed and
  // why, if `fn` throws.
  template <class Fn>
  void LastWordIfFailed(const char* what, const Fn& fn) noexcept;

  MpiState& state_;
  const TransferText text_;
  std::vector<MPI_Request> pieces_;    // empty: MPI does not use the buffer
  MpiClock::time_point started_ = {};  // of a send: when it was matched
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
  // Called under the lock when the matching receive is known.
  void Start(const MpiRequested& request);

 private:
  void Finish() override;
  const void* const data_;
};

class MpiRecv : public MpiTransfer {
 public:
  MpiRecv(MpiState& state, TransferText text, void* data);
  ~MpiRecv() override;
  // No message will come. Called under the lock.
  void Refuse(const std::string& why) { error_ = why; }

 private:
  void Finish() override;
  // Cancels the pieces that no part of the message has reached yet.
  void Withdraw();

  int32_t channel_ = 0;
};

}  // namespace torus::parallel
