// EncoderThread: a second thread of a rank, which encodes and sends what the rank has computed
// while the rank goes on computing.
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
  // Waits for the running job; jobs that have not begun are dropped.
  ~EncoderThread();
  EncoderThread(const EncoderThread&) = delete;
  EncoderThread& operator=(const EncoderThread&) = delete;

  // Queues `job`; jobs run one after another, with a team of one thread. The future rethrows what
  // the job throws.
  std::future<void> Run(std::function<void()> job);
  // Drops the jobs that have not begun (their futures throw std::future_error), and waits for the
  // one that runs. After it nothing that a job refers to is in use.
  void Drop();

 private:
  void RunJobs();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> jobs_;
  bool ends_ = false, running_ = false;
  std::thread thread_;  // last: starts when the other members exist
};

}  // namespace torus::parallel
