// ByteCounter: counts the bytes that ranks send, by purpose. Every rank's transport is wrapped in a
// decorator that counts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "parallel/transport/decorated_transport.h"

namespace torus::labs {

enum class Cargo : uint8_t {
  kGradients,       // all-reduced, with a flag for each parameter: whether it has a gradient
  kInitialWeights,  // of rank 0, to all
  kBuffers,         // running statistics of rank 0, to all
  kMetrics,         // losses, and whether a step is finite; scores of an evaluation
  kSetUp,           // what ranks compare before step 0, and counts that they report
  kOther
};

// "gradients", ...
const char* NameOf(Cargo cargo);

// Classifies a message by its tag and by `what`, its sender's description (Transport::Send).
Cargo CargoOf(parallel::Tag tag, std::string_view what);

struct Sent {
  uint64_t bytes = 0, messages = 0;
};

// Counts the payload bytes of all ranks together. Thread-safe. Must outlive the transports.
class ByteCounter {
 public:
  std::unique_ptr<parallel::Transport> Wrap(parallel::Transport& transport);
  // What was sent since the last Take.
  std::map<Cargo, Sent> Take();

 private:
  class Counted;
  void Add(Cargo cargo, uint64_t bytes);

  std::mutex mutex_;
  std::map<Cargo, Sent> sent_;
};

}  // namespace torus::labs
