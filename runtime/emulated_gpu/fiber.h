// A fiber: code with a stack of its own that stops in the middle and goes on later, on the thread
// that resumes it.
#pragma once

#include <functional>
#include <memory>

namespace torus::emulated_gpu {

// Never moves to another thread. One that is destroyed in the middle is not unwound: what lies on
// its stack is dropped.
class Fiber {
 public:
  // `body` may not throw.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until its next Pause or its end; from the beginning where it has ended.
  void Resume();
  // Only inside of the body: back to where Resume was called.
  void Pause();
  // Whether the body runs no more; true before the first Resume.
  bool ended() const { return ended_; }

 private:
  struct Stack;
  struct Sides;
  static void Enter(unsigned high, unsigned low);
  void Loop();
  void Prepare();

  std::function<void()> body_;
  std::unique_ptr<Stack> stack_;
  std::unique_ptr<Sides> sides_;
  bool begun_ = false, ended_ = true;
};

}  // namespace torus::emulated_gpu
