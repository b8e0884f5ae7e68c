#include "tools/ledger/access_hooks.h"

#include <algorithm>
#include <array>
#include <utility>

#ifndef TORUS_SANITIZER

// The interface is that of gcc's pass: names, and what each is called with.
#define TORUS_HOOK extern "C" [[gnu::section("ledger_hooks"), gnu::noinline, gnu::used]]

// NOLINTBEGIN: the compiler's names
namespace {

constinit thread_local torus::ledger::AccessListener* listener = nullptr;

[[gnu::always_inline]] inline void Tell(const void* address, const void* place, size_t bytes,
                                        bool write) {
  // What the listener itself does, it is not told.
  auto* const told = std::exchange(listener, nullptr);
  if (told == nullptr) return;
  told->OnAccess(
      {reinterpret_cast<uintptr_t>(address), place, static_cast<uint32_t>(bytes), write});
  listener = told;
}

}  // namespace

#define TORUS_ACCESS_HOOKS(prefix, bytes)                        \
  TORUS_HOOK void __tsan_##prefix##read##bytes(void* address) {  \
    Tell(address, __builtin_return_address(0), bytes, false);    \
  }                                                              \
  TORUS_HOOK void __tsan_##prefix##write##bytes(void* address) { \
    Tell(address, __builtin_return_address(0), bytes, true);     \
  }
TORUS_ACCESS_HOOKS(, 1)
TORUS_ACCESS_HOOKS(, 2)
TORUS_ACCESS_HOOKS(, 4)
TORUS_ACCESS_HOOKS(, 8)
TORUS_ACCESS_HOOKS(, 16)
TORUS_ACCESS_HOOKS(unaligned_, 2)
TORUS_ACCESS_HOOKS(unaligned_, 4)
TORUS_ACCESS_HOOKS(unaligned_, 8)
TORUS_ACCESS_HOOKS(unaligned_, 16)

TORUS_HOOK void __tsan_read_range(void* address, size_t bytes) {
  Tell(address, __builtin_return_address(0), bytes, false);
}
TORUS_HOOK void __tsan_write_range(void* address, size_t bytes) {
  Tell(address, __builtin_return_address(0), bytes, true);
}
TORUS_HOOK void __tsan_init() {}
TORUS_HOOK void __tsan_func_entry(void*) {}
TORUS_HOOK void __tsan_func_exit() {}
TORUS_HOOK void __tsan_vptr_read(void*) {}
TORUS_HOOK void __tsan_vptr_update(void*, void*) {}

// Atomic operations of code for the host: done, with the strongest order. In no section of hooks,
// because what follows a thread skips those (thread_steps.h).
#define TORUS_ATOMIC extern "C" [[gnu::noinline, gnu::used]]
#define TORUS_ATOMICS(bits, T)                                                                 \
  TORUS_ATOMIC T __tsan_atomic##bits##_load(const volatile T* at, int) {                       \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                              \
  }                                                                                            \
  TORUS_ATOMIC void __tsan_atomic##bits##_store(volatile T* at, T value, int) {                \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                            \
  TORUS_ATOMIC T __tsan_atomic##bits##_exchange(volatile T* at, T value, int) {                \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                   \
  }                                                                                            \
  TORUS_ATOMIC T __tsan_atomic##bits##_fetch_add(volatile T* at, T value, int) {               \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                    \
  }                                                                                            \
  TORUS_ATOMIC T __tsan_atomic##bits##_fetch_sub(volatile T* at, T value, int) {               \
    return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                                    \
  }                                                                                            \
  TORUS_ATOMIC bool __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, \
                                                                  T desired, int, int) {       \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,         \
                                       __ATOMIC_SEQ_CST);                                      \
  }                                                                                            \
  TORUS_ATOMIC bool __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected,   \
                                                                T desired, int, int) {         \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,         \
                                       __ATOMIC_SEQ_CST);                                      \
  }
TORUS_ATOMICS(8, uint8_t)
TORUS_ATOMICS(32, uint32_t)
TORUS_ATOMICS(64, uint64_t)

extern "C" const char __start_ledger_hooks[], __stop_ledger_hooks[];
// NOLINTEND

namespace torus::ledger {
namespace {

struct Hook {
  uintptr_t code;
  uint32_t bytes;  // 0: the second argument
  bool write;
};

template <class F>
uintptr_t Code(F* function) {
  return reinterpret_cast<uintptr_t>(function);
}

#define TORUS_HOOKS(prefix, bytes)                                \
  Hook{Code(&__tsan_##prefix##read##bytes), bytes, false}, Hook { \
    Code(&__tsan_##prefix##write##bytes), bytes, true             \
  }
const std::array<Hook, 20>& Hooks() {
  static const std::array<Hook, 20> hooks{TORUS_HOOKS(, 1),
                                          TORUS_HOOKS(, 2),
                                          TORUS_HOOKS(, 4),
                                          TORUS_HOOKS(, 8),
                                          TORUS_HOOKS(, 16),
                                          TORUS_HOOKS(unaligned_, 2),
                                          TORUS_HOOKS(unaligned_, 4),
                                          TORUS_HOOKS(unaligned_, 8),
                                          TORUS_HOOKS(unaligned_, 16),
                                          Hook{Code(&__tsan_read_range), 0, false},
                                          Hook{Code(&__tsan_write_range), 0, true}};
  return hooks;
}
#undef TORUS_HOOKS

}  // namespace

void ListenToAccesses(AccessListener* to) { listener = to; }

HookEntry HookAt(uintptr_t code, uintptr_t address, const void* place, size_t range) {
  if (code < Code(__start_ledger_hooks) || code >= Code(__stop_ledger_hooks)) return {};
  const auto& hooks = Hooks();
  const auto hook = std::ranges::find(hooks, code, &Hook::code);
  if (hook == hooks.end()) return {.hook = true};
  const uint32_t bytes = hook->bytes != 0 ? hook->bytes : static_cast<uint32_t>(range);
  return {.hook = true, .access = {address, place, bytes, hook->write}};
}

}  // namespace torus::ledger

#else  // whose run-time libraries define the hooks

namespace torus::ledger {

void ListenToAccesses(AccessListener*) {}
HookEntry HookAt(uintptr_t, uintptr_t, const void*, size_t) { return {}; }

}  // namespace torus::ledger

#endif
