// What the flags of a resumed run may say beside what was stored with it.
#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tools/train/invocation.h"

namespace torus::tools {
namespace {

TEST(TakeSettings, RefusesWhatContradictsAndNamesBoth) {
  recipes::Settings stored;
  stored.lr = 0.05;
  const char* argv[] = {"train", "--lr", "0.2", "--batch-size", "256"};
  Invocation invocation = ParseInvocation(5, argv);
  try {
    TakeSettings(stored, "/runs/a", invocation);
    FAIL();
  } catch (const BadInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("--lr 0.2"), std::string::npos) << message;
    EXPECT_NE(message.find("--lr 0.05"), std::string::npos) << message;
    EXPECT_NE(message.find("/runs/a"), std::string::npos) << message;
  }
}

TEST(TakeSettings, TakesMoreEpochsButNotFewer) {
  const recipes::Settings stored;
  const auto epochs = [&](const char* wanted) {
    const char* argv[] = {"train", "--resume", "x", "--epochs", wanted};
    Invocation invocation = ParseInvocation(5, argv);
    TakeSettings(stored, "/runs/a", invocation);
    return invocation.settings.epochs;
  };
  EXPECT_EQ(epochs("5"), 5);
  EXPECT_EQ(epochs("3"), 3);
  EXPECT_THROW(epochs("2"), BadInput);
}

TEST(TakeSettings, AcceptsWhatAgreesAndTakesTheRest) {
  recipes::Settings stored;
  stored.lr = 0.05;
  stored.stages = 3;
  stored.data_dir = "/data", stored.vocab_dir = "/vocabulary";
  const char* argv[] = {"train",      "--stages",    "3",     "--data-dir",
                        "/elsewhere", "--vocab-dir", "/moved"};
  Invocation invocation = ParseInvocation(7, argv);
  TakeSettings(stored, "/runs/a", invocation);
  EXPECT_EQ(invocation.settings.lr, 0.05);
  EXPECT_EQ(invocation.settings.data_dir, "/elsewhere");
  EXPECT_EQ(invocation.settings.vocab_dir, "/moved");
}

TEST(TakeSettings, AutotuningGoesOnUnlessToldOtherwise) {
  recipes::Settings stored;
  stored.autotune = true;
  const auto resumed = [&](std::vector<const char*> flags) {
    flags.insert(flags.begin(), {"train", "--resume", "/runs/a"});
    Invocation invocation = ParseInvocation(static_cast<int>(flags.size()), flags.data());
    TakeSettings(stored, "/runs/a", invocation);
    return invocation.settings.autotune;
  };
  EXPECT_TRUE(resumed({}));
  EXPECT_FALSE(resumed({"--no-autotune"}));
  stored.autotune = false;
  EXPECT_FALSE(resumed({}));
  EXPECT_TRUE(resumed({"--autotune"}));
}

TEST(TakeSettings, TheLayoutTheEpochsAndTheThreadsMayChange) {
  recipes::Settings stored;
  stored.stages = 3;
  stored.cut = "1,18";
  stored.codec = "sortq:8";
  stored.threads = 3;
  const auto resumed = [&](std::vector<const char*> flags) {
    flags.insert(flags.begin(), {"train", "--resume", "/runs/a"});
    Invocation invocation = ParseInvocation(static_cast<int>(flags.size()), flags.data());
    TakeSettings(stored, "/runs/a", invocation);
    CheckAndComplete(invocation);
    return invocation.settings;
  };
  EXPECT_EQ(resumed({}).cut, "1,18");
  EXPECT_EQ(resumed({"--epochs", "9"}).epochs, 9);
  EXPECT_EQ(resumed({"--threads", "8"}).threads, 8);
  const recipes::Settings two = resumed({"--stages", "2"});
  EXPECT_EQ(two.stages, 2);
  EXPECT_EQ(two.cut, "");
  EXPECT_EQ(two.codec, "sortq:8");
  EXPECT_EQ(resumed({"--stages", "1"}).codec, "none");
  EXPECT_EQ(resumed({"--cut", "4"}).stages, 2);
  const recipes::Settings wide = resumed({"--replicas", "2", "--micro-batches", "2"});
  EXPECT_EQ(wide.replicas, 2);
  EXPECT_EQ(wide.micro_batches, 2);
  EXPECT_EQ(wide.threads, 3);  // that six ranks share
}

TEST(TakeSettings, TheLinksStayUnlessTheyAreGivenAnew) {
  recipes::Settings stored;
  stored.stages = 2;
  stored.threads = 2;
  stored.links = {"10ms,1Gbps"};
  using Links = std::vector<std::string>;
  const auto links = [&](std::vector<const char*> flags) {
    flags.insert(flags.begin(), {"train", "--resume", "/runs/a"});
    Invocation invocation = ParseInvocation(static_cast<int>(flags.size()), flags.data());
    TakeSettings(stored, "/runs/a", invocation);
    CheckAndComplete(invocation);
    return invocation.settings.links;
  };
  EXPECT_EQ(links({}), Links{"10ms,1Gbps"});
  EXPECT_EQ(links({"--link", "1ms,1Gbps", "--link", "0>1:2ms,1Gbps"}),
            (Links{"1ms,1Gbps", "0>1:2ms,1Gbps"}));
  EXPECT_EQ(links({"--link", "none"}), Links());
  EXPECT_THROW(links({"--link", "none", "--link", "1ms,1Gbps"}), BadInput);
  EXPECT_THROW(links({"--link", "0-2:1ms,1Gbps"}), BadInput);
}

// A folder that no codec uses any more is no mistake of the user's, who did not give it.
TEST(TakeSettings, TheFolderOfSamplesGoesWithTheirCodec) {
  recipes::Settings stored;
  stored.stages = 2;
  stored.threads = 2;
  stored.codec = "delta(uniform:4)";
  stored.codec_folder = "/samples";
  const auto folder = [&](std::vector<const char*> flags) {
    flags.insert(flags.begin(), {"train", "--resume", "/runs/a"});
    Invocation invocation = ParseInvocation(static_cast<int>(flags.size()), flags.data());
    TakeSettings(stored, "/runs/a", invocation);
    CheckAndComplete(invocation);
    return invocation.settings.codec_folder;
  };
  EXPECT_EQ(folder({}), "/samples");
  EXPECT_EQ(folder({"--codec", "sortq:8"}), "");
  EXPECT_EQ(folder({"--stages", "1"}), "");
  EXPECT_THROW(folder({"--codec", "none", "--codec-folder", "/other"}), BadInput);
}

}  // namespace
}  // namespace torus::tools
