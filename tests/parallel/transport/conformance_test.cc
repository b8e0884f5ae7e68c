// The transport between threads, and emulated links over it.
#include "tests/parallel/transport/conformance.h"

#include "parallel/transport/emulated_link.h"
#include "parallel/transport/run_ranks.h"

namespace torus::parallel {
namespace {

void RunInProcess(int ranks, double timeout, const RankFn& fn) {
  InProcessWorld world(ranks, {.timeout = timeout});
  RunRanks(world, fn);
}

void RunOverSlowLinks(int ranks, double timeout, const RankFn& fn) {
  const LinkTable links({.latency = 1e-3, .bandwidth = 1e9, .jitter = 1e-3});
  RunInProcess(ranks, timeout, [&](Transport& transport) {
    EmulatedLink slow(transport, links);
    fn(slow);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance,
                         testing::Values(Factory{"InProcess", RunInProcess},
                                         Factory{"EmulatedLink", RunOverSlowLinks}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace torus::parallel
