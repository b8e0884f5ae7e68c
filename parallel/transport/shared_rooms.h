// SharedRooms: memory that ranks on one host share, for collectives that read each other's data
// where it lies instead of sending it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// A room and a mark of each member. A rank writes its own room and raises its own mark; whoever has
// seen the mark raised can read what the room held then.
class SharedRooms {
 public:
  virtual ~SharedRooms() = default;
  // Of `member`. All have one size, at least 64 bytes for each member, and begin at a multiple of
  // 64.
  virtual std::span<std::byte> room(int member) const = 0;
  // It begins at 0.
  virtual int64_t mark(int member) const = 0;
  virtual void RaiseMark() = 0;
  // Until the mark of `member` has reached `mark`, at which it shows `bytes` to this rank.
  // Deadline, errors and `what` are those of Transport::Recv.
  [[nodiscard]] virtual Pending Await(int member, int64_t mark, Tag tag, size_t bytes,
                                      std::string what) = 0;
  // Counts bytes shown to `member` as sent to it (Transport::BytesSent).
  virtual void CountSent(int member, TagClass kind, size_t bytes) = 0;
};

}  // namespace torus::parallel
