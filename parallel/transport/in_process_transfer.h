// InProcessTransfer: a send or receive that a rank has started. Its Wait blocks the rank and
// enforces the deadline. Internal to the in-process transport.
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
  // A receive is ready once its send has been started; a send is ready once the receiver has copied
  // the bytes. Throws BadInput if the sizes of the two differ.
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
