// Which GPU each thread uses; shared by CUDA and its emulation (runtime/cuda_api.h).
#pragma once

#include <atomic>

namespace torus::cuda {

class ThreadGpu {
 public:
  // Call when the calling thread has selected a GPU.
  static void Note(int device) {
    own_ = device;
    last_.store(device, std::memory_order_relaxed);
  }
  // The calling thread's GPU; -1 if it has selected none.
  static int Own() { return own_; }
  // The GPU with which the calling thread pins memory. Its own must stay selected: a kernel may be
  // launched next. A thread without one uses the GPU that some thread selected last. GPU 0 instead
  // would create a context there, of some hundred MB, in each process of a host. -1 before any
  // thread has selected one.
  static int ForPinning() { return own_ >= 0 ? own_ : last_.load(std::memory_order_relaxed); }

 private:
  static inline thread_local int own_ = -1;
  static inline std::atomic<int> last_{-1};  // of any thread
};

}  // namespace torus::cuda
