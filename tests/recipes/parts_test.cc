// Small parts of a run: numbers for people, lists of layers, the metrics file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "recipes/blocks/layer_list.h"
#include "recipes/data/left_out.h"
#include "recipes/report/units.h"
#include "recipes/run/metrics_file.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

TEST(Units, AreReadable) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.00 KiB");
  EXPECT_EQ(FormatBytes(1048575), "1.00 MiB");
  EXPECT_EQ(FormatBytes(uint64_t{412} << 20), "412 MiB");
  EXPECT_EQ(FormatCount(0.4), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(60000), "60,000");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
  EXPECT_EQ(FormatSeconds(0.846), "846 ms");
  EXPECT_EQ(FormatSeconds(12.34), "12.3 s");
  EXPECT_EQ(FormatSeconds(178), "2 min 58 s");
  EXPECT_EQ(FormatSeconds(7260), "2 h 1 min");
}

TEST(LeftOutText, NamesAllHereOrInAFile) {
  std::vector<data::LeftOut> some = {{"a/1.png", "no image"}};
  EXPECT_EQ(LeftOutText(some), "1 example left out: a/1.png: no image");
  EXPECT_EQ(LeftOutText(some, true), "1 more example left out: a/1.png: no image");
  for (const char* where : {"b", "c", "d", "e"}) some.push_back({where, "x"});
  const std::string five = " examples left out: a/1.png: no image; b: x; c: x; d: x; e: x";
  EXPECT_EQ(LeftOutText(some), "5" + five);
  some.push_back({"f", "x"});
  some.push_back({"g", "x"});
  EXPECT_EQ(LeftOutText(some),
            "7 examples left out:\n  a/1.png: no image\n  b: x\n  c: x\n  d: x\n  e: x\n  f: x\n"
            "  g: x");
  EXPECT_EQ(LeftOutText(some, false, "R/x"), "7" + five + "; and 2 more, all of them in R/x");
}

TEST(LeftOutNotes, NameAllInAFileAndEachOnce) {
  const std::string path = ::testing::TempDir() + "/left_out.txt";
  const auto lines = [&] {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::vector<data::LeftOut> some;
  LeftOutNotes notes(path);
  EXPECT_EQ(notes.Tell(some), "");
  EXPECT_FALSE(std::ifstream(path)) << "no file for nothing";
  std::string all;
  for (int i = 0; i < 7; ++i) {
    some.push_back({fmt::format("{}.png", i), "x"});
    all += fmt::format("{}.png: x\n", i);
  }
  EXPECT_EQ(notes.Tell(some), LeftOutText(some, false, path));
  EXPECT_EQ(lines(), all);
  EXPECT_EQ(notes.Tell(some), "") << "told already";
  some.push_back({"late.png", "y"});
  EXPECT_EQ(notes.Tell(some), "1 more example left out: late.png: y");
  EXPECT_EQ(lines(), all + "late.png: y\n");
  // A resumed run says them again, and writes none twice.
  LeftOutNotes resumed(path);
  EXPECT_EQ(resumed.Tell(some), LeftOutText(some, false, path));
  EXPECT_EQ(lines(), all + "late.png: y\n");
}

TEST(LayerList, NamesNumbersAndRanges) {
  using Layers = std::vector<bool>;
  EXPECT_EQ(ParseLayerList("--recompute", "none", 3), (Layers{false, false, false}));
  EXPECT_EQ(ParseLayerList("--recompute", "all", 3), (Layers{true, true, true}));
  EXPECT_EQ(ParseLayerList("--recompute", "2", 3), (Layers{false, false, true}));
  EXPECT_EQ(ParseLayerList("--recompute", "0,2-3", 5), (Layers{true, false, true, true, false}));
  for (const char* bad : {"", "x", "1,", ",1", "1-", "-1", "2-1", "1 2", "3", "0-3", "1--2"})
    EXPECT_THROW(ParseLayerList("--recompute", bad, 3), BadInput) << bad;
}

TEST(MetricsFile, KeepsWhatCameBeforeTheCheckpoint) {
  const std::string path = ::testing::TempDir() + "/metrics.jsonl";
  {
    MetricsFile file(path, 0);
    for (int step = 1; step <= 5; ++step)
      file.Add({{"kind", "train"}, {"step", step}, {"loss", 1.5}});
  }
  std::ofstream(path, std::ios::app) << "{\"kind\": \"tra";  // killed while writing
  MetricsFile resumed(path, 3);
  ASSERT_EQ(resumed.lines().size(), 3u);
  EXPECT_EQ(resumed.lines().back()["step"], 3);
  const MetricsFile fresh(path, 0);
  EXPECT_TRUE(fresh.lines().empty());
}

// A kill, or here an error, while a resumed run takes over the lines leaves all that there were.
TEST(MetricsFile, IsNotEmptiedBeforeTheNewOneIsComplete) {
  const std::string path = ::testing::TempDir() + "/metrics.jsonl";
  std::filesystem::remove_all(path + ".new");
  MetricsFile(path, 0).Add({{"kind", "train"}, {"step", 1}, {"loss", 1.5}});
  std::filesystem::create_directories(path + ".new/in_the_way");
  EXPECT_THROW(MetricsFile(path, 1), BrokenEnvironment);
  std::filesystem::remove_all(path + ".new");
  EXPECT_EQ(MetricsFile(path, 1).lines().size(), 1u);
}

TEST(MetricsFile, KeepsBoundedMemoryButWritesEveryLine) {
  const std::string path = ::testing::TempDir() + "/long_metrics.jsonl";
  constexpr int kSteps = 50'000;
  {
    MetricsFile file(path, 0);
    for (int step = 1; step <= kSteps; ++step)
      file.Add({{"kind", "train"}, {"step", step}, {"loss", 1.5}});
    file.Add({{"kind", "test"}, {"step", kSteps}, {"loss", 1.5}, {"accuracy", 0.5}});
  }
  const MetricsFile resumed(path, kSteps);
  const std::vector<nlohmann::json> lines = resumed.lines();
  EXPECT_LE(lines.size(), MetricsFile::kMostSteps + 2);
  EXPECT_GT(lines.size(), MetricsFile::kMostSteps / 2);
  EXPECT_EQ(lines[0]["step"], 1);
  EXPECT_EQ(lines[1]["step"], 5);  // every fourth
  EXPECT_EQ(lines[lines.size() - 2]["step"], kSteps);
  EXPECT_EQ(lines.back()["kind"], "test");
  EXPECT_TRUE(resumed.HasEvaluation("test", kSteps));
  EXPECT_FALSE(resumed.HasEvaluation("validation", kSteps));
  std::ifstream file(path);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), kSteps + 1);
}

}  // namespace
}  // namespace torus::recipes
