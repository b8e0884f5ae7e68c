#include "recipes/data/data_places.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "recipes/data/data_names.h"
#include "tests/testing/environment.h"

namespace torus::recipes {
namespace {

class DataPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* place : {"/cifar10", "/glue/RTE", "/bpe_gpt2_roberta"})
      std::filesystem::create_directories(common_ + place);
  }
  static Settings Used(Settings settings) {
    UseCommonFolder(settings);
    return settings;
  }
  const std::string common_ = ::testing::TempDir() + "common";
  const torus::testing::EnvironmentVariable variable_{"TORUS_DATA", common_};
};

TEST_F(DataPlaces, WhatIsNotGivenIsInTheCommonFolder) {
  EXPECT_EQ(Used({.data = "cifar10"}).data_dir, common_ + "/cifar10");
  EXPECT_EQ(Used({.data = "cifar10", .data_dir = "/own"}).data_dir, "/own");
  EXPECT_EQ(Used({.data = "cifar100"}).data_dir, "") << "it is not there";
  const torus::testing::EnvironmentVariable none("TORUS_DATA", "");
  EXPECT_EQ(Used({.data = "cifar10"}).data_dir, "");
}

TEST_F(DataPlaces, AVocabularyIsTakenWhereOneIsNeeded) {
  EXPECT_EQ(Used({.data = "rte"}).vocab_dir, common_ + "/bpe_gpt2_roberta");
  EXPECT_EQ(Used({.data = "text", .tokenizer = "gpt2"}).vocab_dir, common_ + "/bpe_gpt2_roberta");
  EXPECT_EQ(Used({.data = "text"}).vocab_dir, "") << "a GPT on a text takes bytes";
  EXPECT_EQ(Used({.data = "cifar10"}).vocab_dir, "");
}

// All but a folder of images, which has no name of its own.
TEST_F(DataPlaces, EveryNameOfDataHasAPlace) {
  for (const std::string& name : DataNames())
    EXPECT_EQ(PlaceOf(name).empty(), name == "image-folder") << name;
}

}  // namespace
}  // namespace torus::recipes
