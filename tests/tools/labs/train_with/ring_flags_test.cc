#include "tools/labs/train_with/ring_flags.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/error.h"

namespace torus::tools::labs {
namespace {

RingFlags Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "train_with");
  return ParseRingFlags(static_cast<int>(words.size()), words.data());
}

TEST(RingFlags, AreThoseOfTrainWithDefaultsForARing) {
  const RingFlags flags = Parse({"--ring", "/x/my_ring.cc", "--seed", "7"});
  EXPECT_EQ(flags.file, "/x/my_ring.cc");
  EXPECT_EQ(flags.path, "/x/my_ring.cc");
  EXPECT_EQ(flags.run.settings.seed, 7u);
  EXPECT_EQ(flags.run.settings.replicas, 4);
  EXPECT_EQ(flags.run.settings.stages, 1);
  EXPECT_EQ(flags.run.settings.codec, "none");
  EXPECT_EQ(flags.run.max_steps, 40);
  EXPECT_EQ(flags.run.timeout, 20);
}

TEST(RingFlags, GivenOnesStay) {
  const RingFlags flags = Parse({"--ring=a.cc", "--replicas", "3", "--epochs", "2", "--timeout",
                                 "5", "--micro-batches", "2"});
  EXPECT_EQ(flags.file, "a.cc");
  EXPECT_EQ(flags.run.settings.replicas, 3);
  EXPECT_EQ(flags.run.settings.epochs, 2);
  EXPECT_EQ(flags.run.settings.micro_batches, 2);
  EXPECT_EQ(flags.run.max_steps, 0);
  EXPECT_EQ(flags.run.timeout, 5);
}

TEST(RingFlags, RefusesWhatARingCannotDo) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> refused{
      {{}, "--ring FILE is required"},
      {{"--ring"}, "needs a file"},
      {{"--ring", "a.cc", "--device", "cuda"}, "--device must be cpu, got cuda"},
      {{"--ring", "a.cc", "--replicas", "1"}, "--replicas must be 2 or more, got 1"},
      {{"--ring", "a.cc", "--stages", "2"}, "--stages must be 1, got 2"},
      {{"--ring", "a.cc", "--tensor", "2"}, "--tensor must be 1, got 2"},
      {{"--ring", "a.cc", "--strategy", "ps"}, "--strategy must be ddp, got ps"},
      {{"--ring", "a.cc", "--collectives", "tree"}, "--collectives, which must not be given"},
      {{"--ring", "a.cc", "--reproducible"}, "--reproducible wants another"},
      {{"--ring", "a.cc", "--codec-gradients", "sortq:8"}, "must be none, got sortq:8"},
      {{"--ring", "a.cc", "--describe"}, "neither --eval-only nor --describe"},
      {{"--ring", "a.cc", "--resume", "/x"}, "begins a new run"},
      {{"--ring", "a.cc", "--lernrate", "1"}, "--lernrate"}};
  for (const auto& [words, says] : refused) {
    std::string error = "none";
    try {
      Parse(words);
    } catch (const BadInput& refusal) {
      error = refusal.what();
    }
    EXPECT_NE(error.find(says), std::string::npos) << error;
  }
}

TEST(RingFlags, RefusesProcesses) {
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_THROW(Parse({"--ring", "a.cc"}), BadInput);
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(RingFlags, HelpSaysWhatIsOfARing) {
  EXPECT_NE(Parse({"--help"}).help.find("--ring my_ring.cc"), std::string::npos);
}

}  // namespace
}  // namespace torus::tools::labs
