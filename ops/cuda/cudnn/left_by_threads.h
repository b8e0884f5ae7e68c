// Per-thread objects for GPUs that outlive their thread and are reused by later threads. A trainer
// starts new threads for its ranks in each call; so they need not load libraries and search for
// plans again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace torus::cuda {

// Each T belongs to one thread at a time. None is ever destroyed, since CUDA may be unloaded first.
template <class T>
class LeftByThreads {
 public:
  // Returns the calling thread's object for that GPU; it belongs to the thread until the thread
  // ends. Takes one that an earlier thread left, otherwise calls make(), which returns a
  // unique_ptr. Keeps nothing if make() throws.
  template <class Make>
  static T& Of(int gpu, const Make& make) {
    thread_local LeftByThreads own;
    std::unique_ptr<T>& mine = own.held_[gpu];
    if (mine == nullptr) mine = TakeLeft(gpu);
    if (mine == nullptr) mine = make();
    return *mine;
  }

  ~LeftByThreads() {
    const std::lock_guard lock(All().mutex);
    // Moves the entries themselves: new ones would need memory.
    while (!held_.empty()) {
      auto entry = held_.extract(held_.begin());
      if (entry.mapped() != nullptr) All().left.insert(std::move(entry));
    }
  }

 private:
  struct Left {
    std::mutex mutex;
    std::multimap<int, std::unique_ptr<T>> left;
  };
  static Left& All() {
    static Left& all = *new Left;
    return all;
  }
  static std::unique_ptr<T> TakeLeft(int gpu) {
    const std::lock_guard lock(All().mutex);
    const auto found = All().left.find(gpu);
    if (found == All().left.end()) return nullptr;
    return std::move(All().left.extract(found).mapped());
  }

  std::map<int, std::unique_ptr<T>> held_;
};

}  // namespace torus::cuda
