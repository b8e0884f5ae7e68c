#include "runtime/long_work.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

namespace torus {
namespace {

// Shorter than any look of a deadline (parallel/transport/wait_chain.h).
constexpr std::chrono::milliseconds kInterval{10};

int64_t NanosecondsOf(clockid_t clock) {
  timespec used = {};
  ::clock_gettime(clock, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

LongWork::LongWork(ProgressCounter* counter) : counter_(counter) {
  if (counter_ == nullptr || ::pthread_getcpuclockid(::pthread_self(), &clock_) != 0) return;
  TickAlive(*counter_);
  try {
    helper_ = std::jthread([this](const std::stop_token& over) { Watch(over); });
  } catch (const std::exception&) {
    // No thread or memory to be had: it is as alive as one that declares nothing.
  }
}

// Before the last tick the helper has ended, which may be within on_alive.
LongWork::~LongWork() {
  if (counter_ == nullptr) return;
  if (helper_.joinable()) {
    helper_.request_stop();
    helper_.join();
  }
  TickAlive(*counter_);
}

void LongWork::Watch(const std::stop_token& over) {
  std::mutex mutex;
  std::condition_variable_any wakes;
  std::unique_lock lock(mutex);
  int64_t before = NanosecondsOf(clock_);
  while (!wakes.wait_for(lock, over, kInterval, [&] { return over.stop_requested(); })) {
    const int64_t now = NanosecondsOf(clock_);
    if (now != before) TickAlive(*counter_);
    before = now;
  }
}

}  // namespace torus
