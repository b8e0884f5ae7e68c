// A fiber: code with its own stack that can pause and later continue, on the thread that resumes
// it.
#pragma once

#include <functional>
#include <memory>

namespace torus::emulated_gpu {

// Never moves to another thread. If a paused fiber is destroyed, its stack is dropped without
// unwinding.
class Fiber {
 public:
  // `body` may not throw.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until its next Pause or its end. If it has ended, starts it again.
  void Resume();
  // Returns to where Resume was called. Only the body may call it.
  void Pause();
  // Whether the body has ended; true before the first Resume.
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
