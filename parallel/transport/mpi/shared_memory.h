// SharedMemory: memory of one process that others of its host can write and read too. It has no
// name in the file system, so a killed process leaves nothing behind. The MPI transport's own part.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace torus::parallel {

class SharedMemory {
 public:
  // Where another process finds it.
  struct Address {
    pid_t process = 0;
    int32_t descriptor = -1;
    uint64_t token = 0;  // in the memory's first bytes: another namespace has other numbers
  };

  // Zeros, but for the token. Empty where the system has none to give.
  static SharedMemory Make(size_t bytes);
  // What Make has made in a process of this host, as long as that one keeps it. Empty where it
  // cannot be reached.
  static SharedMemory Open(const Address& address, size_t bytes);

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  bool empty() const { return bytes_.empty(); }
  std::span<std::byte> bytes() const { return bytes_; }
  const Address& address() const { return address_; }

 private:
  SharedMemory(int descriptor, size_t bytes);

  std::span<std::byte> bytes_;
  Address address_;
};

}  // namespace torus::parallel
