#include "runtime/emulated_gpu/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <new>
#include <utility>

namespace torus::emulated_gpu {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;  // its pages take memory when they are touched
constexpr size_t kGuardBytes = size_t{4} << 10;

}  // namespace

// Below it lies a page that cannot be written, so that a stack that overflows ends the process
// instead of changing another's values.
struct Fiber::Stack {
  Stack() {
    begin = ::mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(begin, kGuardBytes, PROT_NONE);
  }
  ~Stack() { ::munmap(begin, kGuardBytes + kStackBytes); }
  void* begin;
};

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique<Stack>()) {}

Fiber::~Fiber() = default;

void Fiber::Enter(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(uintptr_t{high} << 32 | low)->Loop();
}

void Fiber::Loop() {
  while (true) {
    ended_ = false;
    body_();
    ended_ = true;
    Pause();
  }
}

// The first time by ucontext, which knows how to begin on another stack; from then on by jumps,
// which spare its system calls.
void Fiber::Begin() {
  begun_ = true;
  ucontext_t context;
  ::getcontext(&context);
  context.uc_stack.ss_sp = static_cast<char*>(stack_->begin) + kGuardBytes;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;  // Loop does not return
  const auto self = reinterpret_cast<uintptr_t>(this);
  ::makecontext(&context, reinterpret_cast<void (*)()>(&Fiber::Enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  ::setcontext(&context);
}

void Fiber::Resume() {
  if (_setjmp(outside_) != 0) return;
  if (begun_) _longjmp(inside_, 1);
  Begin();
}

void Fiber::Pause() {
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

}  // namespace torus::emulated_gpu
