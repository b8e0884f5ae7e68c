#include "runtime/emulated_gpu/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "runtime/emulated_gpu/sanitized_switch.h"

namespace torus::emulated_gpu {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;  // pages take memory only when touched
constexpr size_t kGuardBytes = size_t{4} << 10;

// How many bytes of its stack's top the next fiber leaves unused: not the same for all, so that the
// tops of a block's stacks do not share the same few sets of a processor's caches.
size_t NextColour() {
  static std::atomic<size_t> fibers{0};
  return fibers.fetch_add(1, std::memory_order_relaxed) * 5 % 64 * 64;
}

}  // namespace

// Below the stack is a write-protected page, so that a stack overflow ends the process instead of
// changing other data.
struct Fiber::Stack {
  Stack() {
    begin = ::mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(begin, kGuardBytes, PROT_NONE);
  }
  ~Stack() { ::munmap(begin, kGuardBytes + kStackBytes); }
  void* first() const { return static_cast<char*>(begin) + kGuardBytes; }
  void* begin;
};

// Where the two sides of a fiber continue.
struct Fiber::Sides {
  explicit Sides(void* stack) : notes(stack, kStackBytes) {}
  ucontext_t inside, outside;
  void* inside_jump[5];  // of __builtin_setjmp
  void* outside_jump[5];
  SanitizedSwitch notes;
};

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)),
      stack_(std::make_unique<Stack>()),
      sides_(std::make_unique<Sides>(stack_->first())) {}

Fiber::~Fiber() = default;

void Fiber::Enter(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(uintptr_t{high} << 32 | low)->Loop();
}

void Fiber::Loop() {
  sides_->notes.AfterPause();
  while (true) {
    ended_ = false;
    body_();
    ended_ = true;
    Pause();
  }
}

void Fiber::Prepare() {
  begun_ = true;
  ucontext_t& context = sides_->inside;
  ::getcontext(&context);
  context.uc_stack.ss_sp = stack_->first();
  context.uc_stack.ss_size = kStackBytes - NextColour();
  context.uc_link = nullptr;  // Loop does not return
  const auto self = reinterpret_cast<uintptr_t>(this);
  ::makecontext(&context, reinterpret_cast<void (*)()>(&Fiber::Enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

// The first switch uses ucontext, which can start on another stack. Later switches use the
// compiler's jumps, which avoid its system calls and save no more than they must, unless a
// sanitizer is on: sanitizers forbid jumps to other stacks.
#ifdef TORUS_SANITIZER

void Fiber::Resume() {
  if (!begun_) Prepare();
  sides_->notes.BeforeResume();
  ::swapcontext(&sides_->outside, &sides_->inside);
  sides_->notes.AfterResume();
}

void Fiber::Pause() {
  sides_->notes.BeforePause();
  ::swapcontext(&sides_->inside, &sides_->outside);
  sides_->notes.AfterPause();
}

#else

namespace {

// In a function of its own: the one that is jumped to may not make the jump.
[[gnu::noinline, noreturn]] void Jump(void** to) { __builtin_longjmp(to, 1); }

}  // namespace

void Fiber::Resume() {
  if (__builtin_setjmp(sides_->outside_jump) != 0) return;
  if (begun_) Jump(sides_->inside_jump);
  Prepare();
  ::setcontext(&sides_->inside);
}

void Fiber::Pause() {
  if (__builtin_setjmp(sides_->inside_jump) == 0) Jump(sides_->outside_jump);
}

#endif

}  // namespace torus::emulated_gpu
