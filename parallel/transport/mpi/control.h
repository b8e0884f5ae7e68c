// Control messages: what MPI processes tell each other beside the payloads. The MPI transport's own
// part. All hosts must have one byte order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/transport/tag.h"

namespace torus::parallel {

struct MpiControl {
  enum class Kind : int32_t {
    kRequest,   // receiver to sender: a receive of `count` bytes with `tag` waits on `channel`
    kRefuse,    // sender to receiver: nothing will come on `channel`; `text` says why
    kWithdraw,  // receiver to sender: nobody waits on `channel` any more
    kBeat,      // has `count` ticks and waits for `peer` (-1: for nobody); `text` says for what
    kAbort,     // the run is aborted by `peer`; `text` says why
    kLeave,     // has nothing more to say
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
