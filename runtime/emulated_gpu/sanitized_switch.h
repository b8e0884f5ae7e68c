// Tells sanitizers when a thread switches to another stack. Does nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace torus::emulated_gpu {

// The switches of one fiber. Each is announced on the stack that is left and confirmed on the stack
// that is entered.
class SanitizedSwitch {
 public:
  SanitizedSwitch(void* stack, size_t bytes) : stack_(stack), bytes_(bytes) {}
  SanitizedSwitch(const SanitizedSwitch&) = delete;
  SanitizedSwitch& operator=(const SanitizedSwitch&) = delete;

#if defined(__SANITIZE_ADDRESS__)
  // Unpoisons the stack, whose marks are not valid for its next owner.
  ~SanitizedSwitch() { __asan_unpoison_memory_region(stack_, bytes_); }
  void BeforeResume() { __sanitizer_start_switch_fiber(&outside_frames_, stack_, bytes_); }
  void AfterResume() { __sanitizer_finish_switch_fiber(outside_frames_, nullptr, nullptr); }
  void BeforePause() {
    __sanitizer_start_switch_fiber(&inside_frames_, outside_stack_, outside_bytes_);
  }
  void AfterPause() {
    __sanitizer_finish_switch_fiber(inside_frames_, &outside_stack_, &outside_bytes_);
  }
#elif defined(__SANITIZE_THREAD__)
  ~SanitizedSwitch() { __tsan_destroy_fiber(inside_); }
  void BeforeResume() {
    outside_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(inside_, 0);
  }
  void AfterResume() {}
  void BeforePause() { __tsan_switch_to_fiber(outside_, 0); }
  void AfterPause() {}
#else
  void BeforeResume() {}
  void AfterResume() {}
  void BeforePause() {}
  void AfterPause() {}  // also called when the fiber begins
#endif

 private:
  [[maybe_unused]] void* stack_;
  [[maybe_unused]] size_t bytes_;
#if defined(__SANITIZE_ADDRESS__)
  void *outside_frames_ = nullptr, *inside_frames_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_bytes_ = 0;
#elif defined(__SANITIZE_THREAD__)
  void *inside_ = __tsan_create_fiber(0), *outside_ = nullptr;
#endif
};

}  // namespace torus::emulated_gpu
