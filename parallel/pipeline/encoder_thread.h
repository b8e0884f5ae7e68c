// EncoderThread: a thread beside a rank's own, which encodes and sends what the rank has computed
// while the rank computes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace torus::parallel {

class EncoderThread {
 public:
  EncoderThread();
  // Waits for the job that runs; those that have not begun are dropped.
  ~EncoderThread();
  EncoderThread(const EncoderThread&) = delete;
  EncoderThread& operator=(const EncoderThread&) = delete;

  // Runs `job` behind all before it, with a team of one thread. What it throws comes out of the
  // future.
  std::future<void> Run(std::function<void()> job);

 private:
  void RunJobs();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> jobs_;
  bool ends_ = false;
  std::thread thread_;  // last: it begins when all else is there
};

}  // namespace torus::parallel
