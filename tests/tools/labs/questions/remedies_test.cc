#include "tools/labs/questions/remedies.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/error.h"
#include "tests/tools/labs/questions/small_lab.h"

namespace torus::labs {
namespace {

TEST(Remedies, ComeOneByOne) {
  const std::vector<NamedRemedies> rows = OneByOne();
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].name, "");
  EXPECT_FALSE(rows[0].on.linear_scaling);
  EXPECT_TRUE(rows[1].on.linear_scaling);
  EXPECT_FALSE(rows[1].on.gradual_warmup);
  EXPECT_TRUE(rows[5].on.linear_scaling && rows[5].on.gradual_warmup &&
              rows[5].on.momentum_correction && rows[5].on.zero_gamma &&
              rows[5].on.rank_batch_norm);
}

TEST(Remedies, SetTheRateAndTheBatchNorm) {
  EXPECT_EQ(RateOf({}, 0.5, 4, 10).At(0), 0.5);
  EXPECT_EQ(RateOf({.linear_scaling = true}, 0.5, 4, 10).At(0), 2);
  const Remedies warm{.linear_scaling = true, .gradual_warmup = true};
  EXPECT_EQ(RateOf(warm, 0.5, 4, 10).warmup_steps, 2);
  EXPECT_EQ(RateOf(warm, 0.5, 4, 10).At(1), 1.25);
  EXPECT_TRUE(SettingsOf({}, {}).sync_batch_norm);
  EXPECT_FALSE(SettingsOf({.rank_batch_norm = true}, {}).sync_batch_norm);
}

TEST(Remedies, FindTheLastGammaOfEachBlock) {
  EXPECT_EQ(LastGammas({"bn1.weight", "layer1.0.bn1.weight", "layer1.0.bn2.bias",
                        "layer1.0.bn2.weight", "layer2.0.bn1.weight", "layer2.0.bn2.weight",
                        "layer2.0.bn3.weight", "layer2.0.downsample.1.weight", "fc.weight"}),
            (std::vector<std::string>{"layer1.0.bn2.weight", "layer2.0.bn3.weight"}));
}

std::map<std::string, double> LargestGammas(const Remedies& on, const LabOptions& o) {
  std::map<std::string, double> largest;
  LabParts parts = PartsOf(on, o.settings, 2, 4);
  parts.images = o.images;
  parts.on_blocks = [&largest, zero = parts.on_blocks](std::vector<parallel::Block>& blocks) {
    if (zero) zero(blocks);
    for (const parallel::Block& block : blocks)
      for (const NamedVariable& p : block.parameters)
        if (p.name.find(".bn") != p.name.npos && p.name.ends_with("weight"))
          largest[p.name] = ToVector<float>(p.value.data())[0];
  };
  LabRun run(SettingsOf(on, ForRanks(o, 4, 1)), parts);
  EXPECT_GT(run.TrainEpoch().steps, 0);
  return largest;
}

TEST(Remedies, ZeroGammaBeginsResidualBlocksAtTheirInput) {
  const LabOptions options = testing::SmallLab();
  for (const auto& [name, gamma] : LargestGammas({.zero_gamma = true}, options))
    EXPECT_EQ(gamma, name.ends_with("bn2.weight") ? 0 : 1) << name;
  for (const auto& [name, gamma] : LargestGammas({}, options)) EXPECT_EQ(gamma, 1) << name;
}

TEST(Remedies, ZeroGammaNeedsResidualBlocks) {
  LabOptions options = testing::SmallLab();
  options.settings.model = "mobilenet_v2:0.1";
  EXPECT_THROW(LargestGammas({.zero_gamma = true}, options), BadInput);
}

}  // namespace
}  // namespace torus::labs
