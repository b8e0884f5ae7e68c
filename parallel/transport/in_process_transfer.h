// InProcessTransfer: a send or receive that a rank has started. The rank waits here, and here a
// wait times out. The in-process transport's own part.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "parallel/transport/in_process_state.h"

namespace torus::parallel {

class InProcessTransfer : public Pending::State {
 public:
  InProcessTransfer(InProcessState& state, std::shared_ptr<Message> message)
      : state_(state), message_(std::move(message)) {}
  // Cancels a message that has not arrived.
  ~InProcessTransfer() override;

  WaitTime Wait() override;
  bool Done() override;

 private:
  using Clock = std::chrono::steady_clock;

  std::condition_variable& changed() { return state_.changed[message_->rank()]; }
  // A receive is ready once its send has been started, a send once the receiver has copied the
  // bytes. BadInput when the two do not fit each other.
  bool Ready() const;
  void WaitUntilReady(std::unique_lock<std::mutex>& lock, Clock::time_point begin);
  std::string Doing(Clock::time_point begin) const;
  [[noreturn]] void ThrowTimeout(Clock::time_point begin) const;
  // Copies the bytes of the send that matches this receive.
  void Move(std::unique_lock<std::mutex>& lock);

  InProcessState& state_;
  std::shared_ptr<Message> message_;
};

}  // namespace torus::parallel
