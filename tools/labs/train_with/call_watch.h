// CallWatch: ends the program if a student's code does not come back. A thread that never leaves a
// loop cannot be stopped; what can be said is which rank it is, and in which step.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace torus::tools::labs {

class CallWatch {
 public:
  // Prints a line and ends the program with status 1 once a rank has been in the student's code for
  // `seconds` without a call of Send or Recv.
  explicit CallWatch(double seconds);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  // From now on `rank` is in the student's code, in the sum that `what` names; or it has left it,
  // also for the time of a call of Send or Recv, whose waits have a deadline of their own.
  void Enter(int rank, const std::string& what);
  void Leave(int rank);

 private:
  using Clock = std::chrono::steady_clock;
  struct Inside {
    Clock::time_point since;
    std::string what;
  };
  void Watch();
  void EndIfStuck();

  const double seconds_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable ended_;
  bool end_ = false;
  std::map<int, Inside> inside_;  // by rank
  std::thread thread_;
};

}  // namespace torus::tools::labs
