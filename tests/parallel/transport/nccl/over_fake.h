// Ranks as threads whose tensors move by a fake of NCCL: the host's memory stands for that of GPUs.
#pragma once

#include <functional>

#include "parallel/transport/nccl/nccl_transport.h"
#include "parallel/transport/run_ranks.h"
#include "tests/parallel/transport/nccl/fake_nccl.h"

namespace torus::parallel {

inline Device HostOfRank(const Transport&) { return {}; }

// Calls fn(transport, fake) on each rank.
inline void RunOverFake(int ranks, double timeout,
                        const std::function<void(Transport&, FakeNccl&)>& fn) {
  FakeNccl fake;
  InProcessWorld world(ranks, {.timeout = timeout});
  RunRanks(world, [&](Transport& inner) {
    NcclTransport transport(inner, fake, {.device = {}, .timeout = timeout});
    fn(transport, fake);
    transport.Finish();
  });
}

}  // namespace torus::parallel
