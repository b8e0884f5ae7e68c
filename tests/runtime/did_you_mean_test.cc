#include "runtime/did_you_mean.h"

#include <gtest/gtest.h>

namespace torus {
namespace {

const std::vector<std::string> kNames{"resnet18", "resnet50", "cifar_resnet20", "vgg13", "cifar10",
                                      "cifar100", "gpt2"};

TEST(DidYouMean, PrefersNamesThatContainTheWord) {
  EXPECT_EQ(DidYouMean("resnet20", kNames), "; did you mean cifar_resnet20?");
  EXPECT_EQ(DidYouMean("cifar", kNames), "; did you mean cifar10, cifar100 or cifar_resnet20?");
}

TEST(DidYouMean, KnowsAWordWithAWrongLetter) {
  EXPECT_EQ(DidYouMean("resnet51", kNames), "; did you mean resnet50 or resnet18?");
  EXPECT_EQ(DidYouMean("gtp2", kNames), "; did you mean gpt2?");
}

TEST(DidYouMean, IsSilentWhereNothingIsLikeIt) {
  EXPECT_EQ(DidYouMean("transformer", kNames), "");
  EXPECT_EQ(DidYouMean("ab", kNames), "");
  EXPECT_EQ(DidYouMean("", kNames), "");
}

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
}

}  // namespace
}  // namespace torus
