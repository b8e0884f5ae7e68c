#include <nlohmann/json.hpp>
#include <set>

#include "recipes/settings/settings_json.h"
#include "runtime/error.h"
#include "tools/train/invocation.h"

namespace torus::tools {
namespace {

// What may change when a run is resumed: where its data are, how long it trains, and how it is laid
// out over ranks.
bool MayChange(const std::string& flag) {
  static const std::set<std::string> flags{
      "--data-dir",       "--vocab-dir",     "--epochs",
      "--stages",         "--cut",           "--micro-batches",
      "--accumulate",     "--recompute",     "--activation-storage",
      "--replicas",       "--schedule",      "--strategy",
      "--collectives",    "--codec",         "--threads",
      "--codec-backward", "--codec-warmup",  "--codec-gradients",
      "--codec-folder",   "--chunks",        "--bucket-mb",
      "--device",         "--gpu-links",     "--tensor",
      "--tensor-cuts",    "--link",          "--image-cache",
      "--autotune",       "--gradient-norm", "--patience",
      "--optimizer-state"};
  return flags.contains(flag);
}

}  // namespace

void TakeSettings(const recipes::Settings& stored, const std::string& folder,
                  Invocation& invocation) {
  const auto given = [&](const std::string& flag) { return invocation.given.contains(flag); };
  nlohmann::json settings = recipes::ToJson(stored);
  recipes::ForEachSetting(invocation.settings, [&](const std::string& flag, const auto& value) {
    if (!given(flag)) return;
    const nlohmann::json want = value;
    nlohmann::json& has = settings.at(flag.substr(2));
    const bool fewer = flag == "--epochs" && invocation.settings.epochs < stored.epochs;
    Require(want == has || (MayChange(flag) && !fewer), "train",
            "{} {} contradicts the run in {}, which has {} {}", flag, want.dump(), folder, flag,
            has.dump());
    has = want;
  });
  invocation.settings = recipes::SettingsFromJson(settings, folder);
  // The list of micro-batches stays the same.
  recipes::Settings& s = invocation.settings;
  const int64_t list = PartsOfBatch(stored);
  if (s.reproducible && !given("--micro-batches") && list % (s.replicas * s.accumulate) == 0)
    s.micro_batches = list / (s.replicas * s.accumulate);
  // Another number of stages needs another cut.
  if (given("--stages") && !given("--cut") && invocation.settings.stages != stored.stages)
    invocation.settings.cut = "";
}

}  // namespace torus::tools
