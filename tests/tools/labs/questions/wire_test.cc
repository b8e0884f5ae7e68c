#include "tools/labs/questions/wire.h"

#include <gtest/gtest.h>

#include "tests/tools/labs/questions/small_lab.h"

namespace torus::labs {
namespace {

uint64_t BytesOf(const std::map<Cargo, Sent>& sent, Cargo cargo) {
  const auto found = sent.find(cargo);
  return found == sent.end() ? 0 : found->second.bytes;
}

TEST(Wire, CountsTheBytesOfTheClosedForms) {
  LabOptions options = testing::SmallLab();
  for (const int64_t ranks : {2, 4}) {
    options.ranks = {ranks};
    const WireCounts counts = CountWire(options, testing::Silent);
    EXPECT_EQ(counts.steps, 16 / (2 * ranks));
    EXPECT_GT(counts.buffers, 0);
    EXPECT_EQ(BytesOf(counts.epoch, Cargo::kGradients), ExpectedGradients(counts));
    EXPECT_EQ(BytesOf(counts.set_up, Cargo::kInitialWeights), ExpectedWeights(counts));
    EXPECT_EQ(BytesOf(counts.set_up, Cargo::kBuffers), ExpectedBuffers(counts));
    EXPECT_EQ(BytesOf(counts.epoch, Cargo::kBuffers), ExpectedBuffers(counts));
  }
}

// What the link's own stamps take is no message of the ranks.
TEST(Wire, CountsTheSameOverALink) {
  LabOptions options = testing::SmallLab();
  options.links = {"1us,100Gbps"};
  const WireCounts counts = CountWire(options, testing::Silent);
  EXPECT_EQ(BytesOf(counts.epoch, Cargo::kGradients), ExpectedGradients(counts));
  EXPECT_EQ(BytesOf(counts.set_up, Cargo::kInitialWeights), ExpectedWeights(counts));
}

TEST(Wire, KnowsEveryMessage) {
  LabOptions options = testing::SmallLab();
  const WireCounts counts = CountWire(options, testing::Silent);
  for (const auto* sent : {&counts.set_up, &counts.epoch, &counts.evaluation})
    EXPECT_EQ(BytesOf(*sent, Cargo::kOther), 0u);
  EXPECT_GT(BytesOf(counts.epoch, Cargo::kMetrics), 0u);
  EXPECT_GT(BytesOf(counts.evaluation, Cargo::kMetrics), 0u);
  EXPECT_EQ(BytesOf(counts.evaluation, Cargo::kGradients), 0u);
  EXPECT_EQ(BytesOf(counts.epoch, Cargo::kInitialWeights), 0u);
}

}  // namespace
}  // namespace torus::labs
