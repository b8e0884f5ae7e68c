#include "recipes/run/shared_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace torus::recipes {
namespace {

void Change(std::string& value) { value += "x"; }
void Change(std::vector<std::string>& value) { value.push_back("x"); }
void Change(bool& value) { value = !value; }
template <class Number>
void Change(Number& value) {
  value += 1;
}

// Which facts differ once `change` was called.
template <class F>
std::set<std::string> Differing(const RunOptions& before, const F& change) {
  RunOptions after = before;
  change(after);
  const parallel::RunFacts one = OptionFacts(before), other = OptionFacts(after);
  EXPECT_EQ(one.size(), other.size());
  std::set<std::string> names;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].first, other[i].first);
    if (one[i].second != other[i].second) names.insert(one[i].first);
  }
  return names;
}

TEST(OptionFacts, HaveEachSettingButPaths) {
  const std::set<std::string> paths{"--data-dir", "--vocab-dir", "--codec-folder", "--init"};
  const Settings settings;
  ForEachSetting(settings, [&](const std::string& flag, const auto&) {
    const auto differing = Differing({}, [&](RunOptions& options) {
      ForEachSetting(options.settings, [&](const std::string& name, auto& value) {
        if (name == flag) Change(value);
      });
    });
    EXPECT_EQ(differing, paths.contains(flag) ? std::set<std::string>() : std::set{flag});
  });
}

TEST(OptionFacts, HaveTheLimitsAndIntervalsOfTheRun) {
  using Names = std::set<std::string>;
  EXPECT_EQ(Differing({}, [](auto& o) { o.max_steps = 3; }), Names{"--max-steps"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.checkpoint_every = 3; }), Names{"--checkpoint-every"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.eval_every = 3; }), Names{"--eval-every"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.keep = 3; }), Names{"--keep"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.timeout = 3; }), Names{"--timeout"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.max_skipped = 3; }), Names{"--max-skipped"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.cuda_graphs = "off"; }), Names{"--cuda-graphs"});
  EXPECT_EQ(Differing({}, [](auto& o) { o.rank_memory = {1}; }), Names{"--rank-memory"});
}

// A cache has smaller images than its files, so all processes use one, or none. Each may be
// somewhere else.
TEST(OptionFacts, HaveWhetherThereIsAnImageCache) {
  RunOptions options;
  options.settings.image_cache = "/here";
  EXPECT_EQ(Differing(options, [](RunOptions& o) { o.settings.image_cache = "/there"; }),
            std::set<std::string>());
}

TEST(OptionFacts, HaveWhichChoicesOfKernelsARunBeginsWith) {
  using Names = std::set<std::string>;
  const std::string file = ::testing::TempDir() + "/plans";
  std::ofstream(file) << "choices";
  RunOptions options;
  options.plans = file;
  EXPECT_EQ(Differing(options, [&](RunOptions& o) { o.plans = "none"; }), Names{"--plans"});
  EXPECT_EQ(Differing(options, [&](RunOptions& o) { o.plans = ""; }), Names{"--plans"});
  std::ofstream(file + "2") << "choices";
  EXPECT_EQ(Differing(options, [&](RunOptions& o) { o.plans = file + "2"; }), Names());
}

// Each host may have its copy of the weights, but they must be the same.
TEST(OptionFacts, HaveWhatIsInTheInitialWeights) {
  namespace fs = std::filesystem;
  const std::string folder = ::testing::TempDir() + "/init";
  fs::remove_all(folder);
  for (const char* host : {"/a", "/b", "/c"}) fs::create_directories(folder + host);
  const auto write = [&](const std::string& file, const std::string& text) {
    std::ofstream(folder + file) << text;
  };
  for (const char* host : {"/a", "/b", "/c"}) write(host + std::string("/config.json"), "{}");
  write("/a/weights.bin", "1234");
  write("/b/weights.bin", "1234");
  write("/c/weights.bin", "1235");
  const auto with = [&](const std::string& path) {
    RunOptions options;
    options.settings.init = folder + path;
    return options;
  };
  const auto differing = [&](const std::string& one, const std::string& other) {
    return Differing(with(one), [&](RunOptions& options) { options = with(other); });
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(differing("/a", "/b"), Names());
  EXPECT_EQ(differing("/a", "/c"), Names{"--init"});
  EXPECT_EQ(differing("/a/weights.bin", "/b/weights.bin"), Names());
  EXPECT_EQ(differing("/a/weights.bin", "/c/weights.bin"), Names{"--init"});
  EXPECT_EQ(Differing(with("/a"), [](RunOptions& o) { o.settings.init = ""; }), Names{"--init"});
}

}  // namespace
}  // namespace torus::recipes
