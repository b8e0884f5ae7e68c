// NcclLink: one rank's place in the communicator that it shares with another rank, for messages in
// both directions. Internal to the NCCL transport.
#pragma once

#include <cstdint>

namespace torus::parallel {

struct NcclLink {
  int peer = 0;              // rank
  int32_t communicator = 0;  // number (NcclLaunches::Add)
  int peer_member = 0;       // the peer's number in it: the lower rank is member 0
};

}  // namespace torus::parallel
