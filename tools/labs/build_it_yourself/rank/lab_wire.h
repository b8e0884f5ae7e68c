// The wire between ranks: all that the code of a lab may use to reach another rank. Each rank is a
// process of its own; what is not sent over the wire does not get there.
#pragma once

#include <span>

namespace lab {

class Wire {
 public:
  virtual ~Wire() = default;
  virtual int rank() const = 0;  // this one, from 0 to size() - 1
  virtual int size() const = 0;  // how many ranks there are, at least 1

  // Sends `data` to the rank `to`, which is another one. Returns at once: the values are copied, so
  // `data` may be changed. What one rank sends to another arrives in the order in which it is sent.
  virtual void Send(int to, std::span<const float> data) = 0;
  // Waits for the next message of the rank `from`, and writes it to `data`, which must have exactly
  // its length.
  virtual void Recv(int from, std::span<float> data) = 0;
};

}  // namespace lab
