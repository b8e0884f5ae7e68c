// The loads and stores of instrumented kernels: gcc's -fsanitize=thread makes each a call of
// __tsan_read4 or the like, which are defined here instead of in its run-time library. A program
// that links this must not be built with that sanitizer itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torus::ledger {

struct MemoryAccess {
  uintptr_t address = 0;
  const void* place = nullptr;  // in the code, a different one for each load and store of it
  uint32_t bytes = 0;
  bool write = false;
};

class AccessListener {
 public:
  virtual ~AccessListener() = default;
  virtual void OnAccess(const MemoryAccess& access) = 0;
};

// The calling thread's listener, null for none.
void ListenToAccesses(AccessListener* listener);

// If `code` is the entry of a hook of loads or stores: what it would report when called with
// `address` from `place`. `bytes` is 0 for any other hook.
struct HookEntry {
  bool hook = false;
  MemoryAccess access;
};
HookEntry HookAt(uintptr_t code, uintptr_t address, const void* place, size_t range);

}  // namespace torus::ledger
