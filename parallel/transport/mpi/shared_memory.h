// SharedMemory: memory of one process that others on its host can read and write. It has no name in
// the file system, so a killed process leaves nothing behind. Internal to the MPI transport.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace torus::parallel {

class SharedMemory {
 public:
  // How another process finds it.
  struct Address {
    pid_t process = 0;
    int32_t descriptor = -1;
    // In the memory's first bytes. It differs if the two numbers, read in another PID namespace,
    // name other memory.
    uint64_t token = 0;
  };

  // Creates memory filled with zeros except for the token. Empty if the system has none to give.
  static SharedMemory Make(size_t bytes);
  // Maps memory that a process of this host got from Make and still keeps. Empty if it cannot be
  // mapped.
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
