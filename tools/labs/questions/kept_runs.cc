#include "tools/labs/questions/kept_runs.h"

#include <cmath>
#include <utility>

#include "recipes/settings/settings_json.h"
#include "runtime/error.h"

namespace torus::labs {
namespace {

using Json = nlohmann::json;

std::string FolderOf(const LabOptions& o, const std::string& folder) {
  TORUS_CHECK(!o.out.empty(), "a question keeps its runs in its folder");
  return o.out + "/" + folder;
}

}  // namespace

KeptRuns::KeptRuns(const LabOptions& options, const std::string& folder, Tell tell)
    : tell_(std::move(tell)), store_(FolderOf(options, folder)) {}

Json KeptRuns::Get(const std::string& name, uint64_t seed, const Json& settings,
                   const std::function<Json()>& measure) {
  const study::PlannedRun run{name, seed, settings};
  if (auto kept = store_.Find(run)) {
    tell_(fmt::format("{}: kept from an earlier start in {}", name, store_.PathOf(run)));
    return std::move(*kept);
  }
  if (!store_.damage().empty()) tell_(store_.damage() + "; it is run again");
  return store_.Save(run, measure());
}

Json KeySettings(const LabOptions& o, const recipes::Settings& settings) {
  return {{"run", recipes::ToJson(settings)},
          {"epochs", o.epochs},
          {"images", o.images},
          {"test_images", o.test_images},
          {"small_batch", o.small_batch},
          {"links", LinksOf(o, settings.replicas)}};
}

double NumberFromJson(const Json& json) { return json.is_null() ? NAN : json.get<double>(); }

Json ToJson(const Epoch& epoch) {
  return {{"number", epoch.number},    {"steps", epoch.steps}, {"images", epoch.images},
          {"seconds", epoch.seconds},  {"loss", epoch.loss},   {"data_seconds", epoch.data_seconds},
          {"accuracy", epoch.accuracy}};
}

Epoch EpochFromJson(const Json& json) {
  return {.number = json.at("number"),
          .steps = json.at("steps"),
          .images = json.at("images"),
          .seconds = NumberFromJson(json.at("seconds")),
          .data_seconds = NumberFromJson(json.at("data_seconds")),
          .loss = NumberFromJson(json.at("loss")),
          .accuracy = NumberFromJson(json.at("accuracy"))};
}

}  // namespace torus::labs
