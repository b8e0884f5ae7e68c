// RingWire: implements the wire of lab_wire.h between the trainer's ranks, for one call of a
// student's ring.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "parallel/transport/transport.h"
#include "tools/labs/train_with/call_watch.h"
#include "tools/labs/train_with/ring_library.h"

namespace torus::tools::labs {

// Counts over a rank's calls of the ring.
struct RingCounts {
  int64_t sums = 0, messages = 0;
  uint64_t elements = 0;  // of all sums
  uint64_t bytes = 0, largest_message = 0;
};

// Category of the trace events "send 2048 floats to rank 1" and "receive 2048 floats from rank 0".
inline constexpr char kRingCategory[] = "ring";

class RingWire {
 public:
  // Through `quiet` the ranks tell each other that they are done. It is the same as `transport`, or
  // that without the delays of an emulated link.
  RingWire(parallel::Transport& transport, parallel::Transport& quiet, RingCounts& counts,
           CallWatch& watch, std::string what)
      : transport_(transport),
        quiet_(quiet),
        counts_(counts),
        watch_(watch),
        what_(std::move(what)) {}

  // Calls `function`; every rank must call this. Throws BadInput, naming rank and `what`, if
  // `function` throws, if it sends to or receives from a number that is not another rank, if it
  // receives with another length than the message's, or if a message was not received. Also throws
  // the errors of Transport. CallWatch ends the program if `function` does not come back.
  void AllReduceMean(RingFunction function, std::span<float> data);

 private:
  // A message that may not have been received yet.
  struct Sent {
    int to = 0;
    std::vector<float> copy;
    parallel::Pending pending;
  };
  static int Send(void* wire, int to, const float* data, size_t count);
  static int Recv(void* wire, int from, float* data, size_t count);
  int Call(RingFunction function, std::span<float> data, std::span<char> reason);
  template <class Work>
  int Guarded(const Work& work);
  void RequireOther(const char* does, int peer) const;
  void Send(int to, std::span<const float> data);
  void Recv(int from, std::span<float> data);
  void ForgetArrived();
  void RequireNothingLeft();

  parallel::Transport& transport_;
  parallel::Transport& quiet_;
  RingCounts& counts_;
  CallWatch& watch_;
  const std::string what_;
  std::deque<Sent> sent_;
  int64_t sends_ = 0, receives_ = 0;
  std::exception_ptr failure_;  // of the wire, even if the student's code ignores it
};

}  // namespace torus::tools::labs
