// A thread that encodes beside the rank's own changes no bit, whatever the schedule, the strategy
// and the links.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "parallel/link/link_table.h"
#include "parallel/schedule/factory.h"
#include "parallel/transport/emulated_link.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

ToyRun CodedRun(const std::string& schedule, bool beside) {
  ToyRun run;
  run.f32 = true;
  run.options = {.stages = 2,
                 .replicas = 2,
                 .micro_batches = 4,
                 .schedule = schedule,
                 .encodes_beside = beside,
                 .clip_norm = 0.05};
  if (TakesChunks(schedule)) run.options.stages = 2 * (run.options.chunks = 2);
  if (schedule == "u-shaped") run.options.stages = 3;
  if (StagesARank(schedule, 1) == 2) run.options.stages = 4;
  run.options.codec = [] { return MakeCodec("sortq:8"); };
  return run;
}

TEST(EncodesBeside, ChangesNoBit) {
  for (const char* schedule : {"gpipe", "1f1b", "zb-h1", "u-shaped", "interleaved",
                               "zb-interleaved", "zb-v", "v-half", "v-min", "dualpipe-v"}) {
    SCOPED_TRACE(schedule);
    ExpectEqualBits(TrainFor(CodedRun(schedule, true), 20),
                    TrainFor(CodedRun(schedule, false), 20));
  }
}

// Both threads of a rank send over one link.
TEST(EncodesBeside, OverSlowLinks) {
  const LinkTable links({.latency = 1e-3, .bandwidth = 1e7, .jitter = 5e-4});
  ToyRun slow = CodedRun("1f1b", true);
  slow.options.wrap_transport = [&](Transport& inner) {
    return std::make_unique<EmulatedLink>(inner, links);
  };
  ExpectEqualBits(TrainFor(slow, 10), TrainFor(CodedRun("1f1b", false), 10));
}

}  // namespace
}  // namespace torus::parallel
