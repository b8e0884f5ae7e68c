// What threads keep for a GPU and leave to the threads after them: the ranks of a trainer have new
// threads in each of its calls, and what one has loaded and looked for serves the next.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace torus::cuda {

// Each T is of one thread at a time. None is ever destroyed: CUDA may be gone by then.
template <class T>
class LeftByThreads {
 public:
  // The calling thread's, until it ends, for the GPU of that number: one that another thread has
  // left behind, else what make() gives, a unique_ptr. Keeps nothing where that throws.
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
    for (auto& [gpu, mine] : held_)
      if (mine != nullptr) All().left.emplace(gpu, std::move(mine));
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
