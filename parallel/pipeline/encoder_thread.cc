#include "parallel/pipeline/encoder_thread.h"

#include <utility>

#include "runtime/parallel_for.h"
#include "runtime/run_context.h"

namespace torus::parallel {

EncoderThread::EncoderThread()
    : thread_([this, context = RunContext::Current()] {
        const WithRunContext with(context);
        RunJobs();
      }) {}

EncoderThread::~EncoderThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::future<void> EncoderThread::Run(std::function<void()> job) {
  std::packaged_task<void()> task(std::move(job));
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(task));
  }
  changed_.notify_all();
  return done;
}

void EncoderThread::Drop() {
  std::unique_lock lock(mutex_);
  jobs_.clear();
  changed_.wait(lock, [this] { return !running_; });
}

void EncoderThread::RunJobs() {
  SetTeamSize(1);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (ends_) return;
    std::packaged_task<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = true;
    lock.unlock();
    job();
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

}  // namespace torus::parallel
