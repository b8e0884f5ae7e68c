// Settings as JSON, also that of older and newer files.
#include "recipes/settings/settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "recipes/settings/settings_json.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

TEST(Settings, ComeBackFromJson) {
  Settings settings;
  settings.cut = "1,18";
  settings.lr = 0.1 + 0.2;
  settings.seed = ~uint64_t{0};
  settings.links = {"10ms,1Gbps,window=64KB,jitter=1ms", "1>0:1ms,5Gbps"};
  const nlohmann::json json = nlohmann::json::parse(ToJson(settings).dump());
  EXPECT_EQ(ToJson(SettingsFromJson(json, "file")), json);
  EXPECT_EQ(SettingsFromJson(json, "file").links, settings.links);
}

TEST(Settings, OfOlderFilesHaveTheValuesOfTheirTime) {
  nlohmann::json older = ToJson(Settings());
  older.erase("collectives");
  EXPECT_EQ(SettingsFromJson(older, "file", 1).collectives, "ring");
  EXPECT_EQ(Settings().collectives, "auto");
  // A file of the time in which it was a setting must have it.
  EXPECT_THROW(SettingsFromJson(older, "file", 2), BadInput);
}

// A setting that is added needs a line that says what runs did before it (settings.cc), and a
// version more.
TEST(Settings, OfTheFirstVersionAreStillRead) {
  const nlohmann::json first = nlohmann::json::parse(R"({
    "accumulate": 1, "activation-storage": "f32", "augment": "none", "batch-size": 24,
    "beta2": 0.999, "clip-norm": 0.0, "codec": "sortq:8", "cut": "", "data": "fashion-mnist",
    "data-dir": "/data", "ema": 0.0, "epoch-size": 0, "epochs": 2, "image-size": 0, "init": "",
    "length": 128, "lr": 0.07, "lr-schedule": "cosine", "micro-batches": 2,
    "model": "mobilenet_v2:0.1", "momentum": 0.9, "nesterov": true, "optimizer": "sgd",
    "recompute": "none", "replicas": 1, "schedule": "gpipe", "seed": 1, "stages": 2, "threads": 2,
    "tokenizer": "", "vocab-dir": "", "warmup": 0, "weight-decay": 4e-05})");
  const Settings settings = SettingsFromJson(first, "file", 1);
  EXPECT_EQ(settings.data_dir, "/data");
  nlohmann::json same = ToJson(settings);
  EXPECT_EQ(static_cast<int64_t>(same.size() - first.size()), kSettingsVersion - 1);
}

TEST(Settings, OfANewerFileAreNamed) {
  nlohmann::json newer = ToJson(Settings());
  newer["warp"] = 9, newer["weave"] = "tight";
  const auto message = [&](int64_t version) -> std::string {
    try {
      SettingsFromJson(newer, "file", version);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(1000),
            "[file] has settings that are unknown here: warp, weave; a newer Torus wrote it");
  EXPECT_EQ(message(1), "[file] has settings that are unknown here: warp, weave");
}

TEST(Settings, AreReadStrictly) {
  const nlohmann::json good = ToJson(Settings());
  nlohmann::json bad = good;
  bad.erase("lr");
  EXPECT_THROW(SettingsFromJson(bad, "file"), BadInput);
  bad = good;
  bad["epochs"] = "3";
  EXPECT_THROW(SettingsFromJson(bad, "file"), BadInput);
  bad = good;
  bad["link"] = {"1ms,1Gbps", 7};
  EXPECT_THROW(SettingsFromJson(bad, "file"), BadInput);
  bad = good;
  bad["surplus"] = 1;
  EXPECT_THROW(SettingsFromJson(bad, "file"), BadInput);
}

TEST(Settings, OfOlderCheckpointsHaveBeta1FromTheMomentum) {
  Settings settings;
  settings.momentum = 0.8;
  nlohmann::json json = ToJson(settings);
  json.erase("beta1");
  EXPECT_EQ(SettingsFromJson(json, "file", 3).beta1, 0.8);
}

}  // namespace
}  // namespace torus::recipes
