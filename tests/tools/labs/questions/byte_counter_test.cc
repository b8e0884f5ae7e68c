#include "tools/labs/questions/byte_counter.h"

#include <gtest/gtest.h>

#include "parallel/transport/run_ranks.h"

namespace torus::labs {
namespace {

using parallel::Tag;
using parallel::TagClass;

TEST(ByteCounter, KnowsMessagesByTagAndWords) {
  const Tag collective{TagClass::kCollective, 3}, control{TagClass::kControl, 3};
  EXPECT_EQ(CargoOf(collective, "all-reduce of bucket 0 (a .. b), step 3, stage 0"),
            Cargo::kGradients);
  EXPECT_EQ(CargoOf(collective, "broadcast of a.weight, before step 0, stage 0, broadcast"),
            Cargo::kInitialWeights);
  EXPECT_EQ(CargoOf(collective, "broadcast of a.running_mean, stage 0, broadcast"),
            Cargo::kBuffers);
  EXPECT_EQ(CargoOf(control, "whether step 3 is finite"), Cargo::kMetrics);
  EXPECT_EQ(CargoOf(control, "scores of an evaluation"), Cargo::kMetrics);
  EXPECT_EQ(CargoOf(control, "counts of a rank"), Cargo::kSetUp);
  EXPECT_EQ(CargoOf(collective, "something else"), Cargo::kOther);
  EXPECT_EQ(CargoOf({TagClass::kActivation, 1}, "activation"), Cargo::kOther);
}

TEST(ByteCounter, CountsWhatLeavesARankAndForgetsWhatWasTaken) {
  ByteCounter counter;
  parallel::ThreadWorld(2).Run([&](parallel::Transport& inner) {
    const auto ranks = counter.Wrap(inner);
    char out[5] = {}, in[5] = {};
    auto received = ranks->Recv(1 - ranks->rank(), {TagClass::kControl, 0}, {in, 5}, "counts");
    auto sent = ranks->Send(1 - ranks->rank(), {TagClass::kControl, 0}, {out, 5}, "counts");
    received.Wait();  // the receiver moves the bytes
    sent.Wait();
  });
  const auto sent = counter.Take();
  EXPECT_EQ(sent.at(Cargo::kSetUp).bytes, 10u);
  EXPECT_EQ(sent.at(Cargo::kSetUp).messages, 2u);
  EXPECT_TRUE(counter.Take().empty());
}

}  // namespace
}  // namespace torus::labs
