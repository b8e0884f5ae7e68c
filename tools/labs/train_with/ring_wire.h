// RingWire: the wire of lab_wire.h between the trainer's ranks, for one call of a student's ring.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "parallel/transport/transport.h"
#include "tools/labs/train_with/ring_library.h"

namespace torus::tools::labs {

// What a rank's calls of the ring came to.
struct RingCounts {
  int64_t sums = 0, messages = 0;
  uint64_t elements = 0;  // of all sums
  uint64_t bytes = 0, largest_message = 0;
};

// Category of the trace's events: "send 2048 floats to rank 1", "receive 2048 floats from rank 0".
inline constexpr char kRingCategory[] = "ring";

class RingWire {
 public:
  // `quiet`: by which ranks tell each other that they are done; as `transport`, or without the
  // delays of an emulated link.
  RingWire(parallel::Transport& transport, parallel::Transport& quiet, RingCounts& counts,
           std::string what)
      : transport_(transport), quiet_(quiet), counts_(counts), what_(std::move(what)) {}

  // Calls `function` on every rank. BadInput, naming rank and `what`, where it throws, where it
  // sends to or receives from what is no other rank or in another length than the message's, and
  // where a message is left that nobody received; else the errors of Transport.
  void AllReduceMean(RingFunction function, std::span<float> data);

 private:
  // A message whose receiver may not have come yet.
  struct Sent {
    int to = 0;
    std::vector<float> copy;
    parallel::Pending pending;
  };
  static int Send(void* wire, int to, const float* data, size_t count);
  static int Recv(void* wire, int from, float* data, size_t count);
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
  const std::string what_;
  std::deque<Sent> sent_;
  int64_t sends_ = 0, receives_ = 0;
  std::exception_ptr failure_;  // of the wire; whatever the student's code makes of it
};

}  // namespace torus::tools::labs
