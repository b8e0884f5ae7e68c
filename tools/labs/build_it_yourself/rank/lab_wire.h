// The wire between ranks: the only way in which the code of a lab reaches another rank. Ranks
// share no variables; in the grader each rank is a process of its own.
#pragma once

#include <span>

namespace lab {

class Wire {
 public:
  virtual ~Wire() = default;
  virtual int rank() const = 0;  // this rank, from 0 to size() - 1
  virtual int size() const = 0;  // how many ranks there are, at least 1

  // Sends `data` to rank `to`, which must be another rank. Copies the values and returns at once,
  // so `data` may be changed then. Messages from one rank to another arrive in the order in which
  // they are sent.
  virtual void Send(int to, std::span<const float> data) = 0;
  // Waits for the next message from rank `from` and writes it to `data`, which must have exactly
  // the message's length.
  virtual void Recv(int from, std::span<float> data) = 0;
};

}  // namespace lab
