// InProcessTransfer: a posted message, seen by the rank that posted it. It is where that rank
// waits, and where a deadline passes. The in-process transport's own part.
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
  // Withdraws a message that is not done.
  ~InProcessTransfer() override;

  WaitTime Wait() override;
  bool Done() override;

 private:
  using Clock = std::chrono::steady_clock;

  std::condition_variable& changed() { return state_.changed[message_->rank()]; }
  // A receive is ready once its send is there, a send once the receiver has copied. Throws what was
  // wrong at posting.
  bool Ready() const;
  void WaitUntilReady(std::unique_lock<std::mutex>& lock, Clock::time_point begin);
  std::string Doing() const;
  [[noreturn]] void ThrowTimeout(Clock::time_point begin) const;
  // Copies the bytes of the send that matches this receive.
  void Move(std::unique_lock<std::mutex>& lock);

  InProcessState& state_;
  std::shared_ptr<Message> message_;
};

}  // namespace torus::parallel
