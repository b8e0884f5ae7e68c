// What chance gives, on data whose frequencies are known.
#include "tools/experiments/common/chance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tools/experiments/common/training.h"

namespace torus::experiments {
namespace {

// Three quarters of a text are 'a', one is 'b'; -sum p log p, which adding one to each of some
// thousand counts hardly moves.
TEST(Chance, OfATextIsItsUnigrams) {
  const std::string path = ::testing::TempDir() + "/unigrams.txt";
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "aaab";
  std::ofstream(path) << text;
  recipes::Settings settings =
      SettingsOf("--model gpt-char --data text --tokenizer chars --length 16 --epoch-size 1000");
  settings.data_dir = path;
  const Chance chance = ChanceOf(settings);
  EXPECT_FALSE(chance.majority);
  EXPECT_NEAR(chance.unigrams.value(), -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-3);
}

// Two of three sentences are of class 1.
TEST(Chance, OfSentencesIsTheMajorityClass) {
  const std::string folder = ::testing::TempDir() + "/chance";
  std::filesystem::create_directories(folder);
  for (const char* file : {"/train.tsv", "/dev.tsv"})
    std::ofstream(folder + file) << "x\t1\t\tone\nx\t0\t*\ttwo\nx\t1\t\tthree\n";
  recipes::Settings settings =
      SettingsOf("--model roberta:1 --data cola --tokenizer roberta --length 16");
  settings.data_dir = folder;
  const char* const data = std::getenv("TORUS_DATA");
  settings.vocab_dir = std::string(data == nullptr ? "" : data) + "/bpe_gpt2_roberta";
  if (!std::filesystem::exists(settings.vocab_dir))
    GTEST_SKIP() << "*** TORUS_DATA leads to no bpe_gpt2_roberta: the majority class is NOT tested";
  EXPECT_NEAR(ChanceOf(settings).majority.value(), 200.0 / 3, 1e-9);
}

}  // namespace
}  // namespace torus::experiments
