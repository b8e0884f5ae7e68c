// The NCCL transport over a fake of NCCL.
#include "tests/parallel/transport/conformance.h"

#include "parallel/transport/emulated_link.h"
#include "tests/parallel/transport/nccl/over_fake.h"

namespace torus::parallel {
namespace {

void RunNccl(int ranks, double timeout, const RankFn& fn) {
  RunOverFake(ranks, timeout, [&](Transport& transport, FakeNccl&) { fn(transport); });
}

void RunSlowNccl(int ranks, double timeout, const RankFn& fn) {
  const LinkTable links({.latency = 1e-3, .bandwidth = 1e9, .jitter = 1e-3});
  RunNccl(ranks, timeout, [&](Transport& transport) {
    EmulatedLink slow(transport, links);
    fn(slow);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance,
                         testing::Values(Factory{"Nccl", RunNccl, false},
                                         Factory{"EmulatedLinkOverNccl", RunSlowNccl, false}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace torus::parallel
