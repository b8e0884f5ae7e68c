// Control messages: what MPI processes tell each other besides payloads. All hosts must have the
// same byte order. Internal to the MPI transport.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/transport/tag.h"

namespace torus::parallel {

struct MpiControl {
  enum class Kind : int32_t {
    kRequest,   // receiver to sender: ready for `count` bytes with `tag` on `channel`
    kRefuse,    // sender to receiver: no message will come on `channel`; `text` says why
    kWithdraw,  // receiver to sender: the receive on `channel` is cancelled
    kBeat,      // heartbeat: `count` ticks so far, waits for `peer` (-1: none); `text`: for what
    kAbort,     // rank `peer` aborts the run; `text` says why
    kLeave,     // the sender leaves the world
  };
  Kind kind = Kind::kBeat;
  Tag tag = {};
  int32_t channel = 0;
  int32_t peer = -1;
  uint64_t count = 0;
  std::string text;
};

std::vector<char> Pack(const MpiControl& control);
MpiControl Unpack(std::span<const char> bytes);

}  // namespace torus::parallel
