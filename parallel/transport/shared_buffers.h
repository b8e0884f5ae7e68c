// SharedBuffers: memory shared by ranks on one host, for collectives that read each other's data in
// place instead of sending it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Each member has a buffer (a block of memory) and a mark (a counter). A rank writes only its own
// buffer and raises only its own mark. Whoever has seen a mark raised can read what the buffer held
// at that time.
class SharedBuffers {
 public:
  virtual ~SharedBuffers() = default;
  // The buffer of `member`. All buffers have the same size, at least 64 bytes per member, and are
  // aligned to 64 bytes.
  virtual std::span<std::byte> buffer(int member) const = 0;
  // Starts at 0.
  virtual int64_t mark(int member) const = 0;
  virtual void RaiseMark() = 0;
  // Waits until the mark of `member` has reached `mark`, where it shows `bytes` to this rank.
  // Deadline, errors and `what` are those of Transport::Recv.
  [[nodiscard]] virtual Pending Await(int member, int64_t mark, Tag tag, size_t bytes,
                                      std::string what) = 0;
  // Counts bytes shown to `member` as sent to it (Transport::BytesSent).
  virtual void CountSent(int member, TagClass kind, size_t bytes) = 0;
};

}  // namespace torus::parallel
