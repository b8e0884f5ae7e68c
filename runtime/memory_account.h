// MemoryAccount: what the tensors of one run take, whatever else the process does meanwhile, and
// how much they may take.
//
//   const auto account = std::make_shared<MemoryAccount>(size_t{3} << 30);
//   const WithMemoryAccount with(account);  // tensors made by this thread from here on are charged
//   account->stats({}).peak_bytes;
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "runtime/allocator.h"
#include "runtime/device.h"

namespace torus {

// A block is charged to the account of the thread that asks for it, and credited to the same one
// when it is freed, on whatever thread, also after the run. Threads that a run starts carry its
// account (run_context.h). An account made while another is the calling thread's is a part of that:
// its blocks are charged to both.
//
// Only bytes that are handed out count. What the device's allocator caches besides belongs to no
// run; Allocator::SetLimit bounds it, with all else, for the process. Memory borrowed from others
// (mapped files, pinned memory) is not charged. Thread-safe.
class MemoryAccount {
 public:
  // `limit`: the most bytes on the CPU, and on each GPU; 0: no other limit than the allocators'.
  explicit MemoryAccount(size_t limit = 0);
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // The devices below are those that have an allocator (AllocatorFor).

  // Live, peak and limit of this account on the device; held_bytes and allocations are 0.
  MemoryStats stats(Device device) const;
  // From now on peaks are counted anew.
  void ResetPeak();

  // Whether the bytes are within the limits; only then they are charged.
  bool TryCharge(Device device, size_t bytes);
  // As TryCharge; throws BrokenEnvironment with the bytes asked for, live and allowed.
  void Charge(Device device, size_t bytes);
  // Gives back what was charged.
  void Credit(Device device, size_t bytes) noexcept;

  // The calling thread's; null without one.
  static std::shared_ptr<MemoryAccount> Current();

 private:
  static constexpr size_t kDevices = 65;  // the CPU and as many GPUs as there are allocators
  struct Count {
    std::atomic<size_t> live{0}, peak{0};
  };
  static size_t IndexOf(Device device);
  bool Add(Count& count, size_t bytes);
  [[noreturn]] void FailOverLimit(Device device, size_t bytes) const;

  const size_t limit_;
  const std::shared_ptr<MemoryAccount> within_;  // the account that this is a part of, or null
  std::array<Count, kDevices> counts_;
};

// While one exists, the calling thread's tensors are charged to `account`; null: to none.
class WithMemoryAccount {
 public:
  explicit WithMemoryAccount(std::shared_ptr<MemoryAccount> account);
  ~WithMemoryAccount();
  WithMemoryAccount(const WithMemoryAccount&) = delete;
  WithMemoryAccount& operator=(const WithMemoryAccount&) = delete;

 private:
  const std::shared_ptr<MemoryAccount> account_;
  const std::shared_ptr<MemoryAccount>* const before_;
};

}  // namespace torus
