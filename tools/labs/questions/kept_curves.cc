#include "tools/labs/questions/kept_curves.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/error.h"

namespace torus::labs {
namespace {

using Json = nlohmann::json;

// All on which a curve depends besides its name and its seed.
Json SettingsOf(const LabOptions& o, const recipes::Settings& settings) {
  return {{"run", recipes::ToJson(settings)},
          {"epochs", o.epochs},
          {"images", o.images},
          {"test_images", o.test_images},
          {"small_batch", o.small_batch},
          {"links", LinksOf(o, settings.replicas)}};
}

// JSON has null for what is not finite, such as the loss of a run that diverges.
double NumberOf(const Json& json) { return json.is_null() ? NAN : json.get<double>(); }

Json ToJson(const Epoch& epoch) {
  return {{"number", epoch.number},    {"steps", epoch.steps}, {"images", epoch.images},
          {"seconds", epoch.seconds},  {"loss", epoch.loss},   {"data_seconds", epoch.data_seconds},
          {"accuracy", epoch.accuracy}};
}

Epoch EpochOf(const Json& json) {
  return {.number = json.at("number"),
          .steps = json.at("steps"),
          .images = json.at("images"),
          .seconds = NumberOf(json.at("seconds")),
          .data_seconds = NumberOf(json.at("data_seconds")),
          .loss = NumberOf(json.at("loss")),
          .accuracy = NumberOf(json.at("accuracy"))};
}

Json ToJson(const Curve& curve) {
  Json epochs = Json::array();
  for (const Epoch& epoch : curve.epochs) epochs.push_back(ToJson(epoch));
  const TestScore& test = curve.test;
  return {{"batch", curve.batch},
          {"epochs", epochs},
          {"test", {{"loss", test.loss}, {"accuracy", test.accuracy}, {"images", test.images}}}};
}

Curve CurveOf(const std::string& name, const Json& json) {
  const Json& test = json.at("test");
  Curve curve{.name = name, .batch = json.at("batch")};
  for (const Json& epoch : json.at("epochs")) curve.epochs.push_back(EpochOf(epoch));
  curve.test = {NumberOf(test.at("loss")), NumberOf(test.at("accuracy")), test.at("images")};
  return curve;
}

std::string FolderOf(const LabOptions& o) {
  TORUS_CHECK(!o.out.empty(), "a question keeps its curves in its folder");
  return o.out + "/curves";
}

}  // namespace

KeptCurves::KeptCurves(const LabOptions& options, Tell tell)
    : options_(options), tell_(std::move(tell)), store_(FolderOf(options)) {}

Curve KeptCurves::Train(const std::string& name, const recipes::Settings& settings,
                        LabParts parts) {
  const study::PlannedRun run{name, settings.seed, SettingsOf(options_, settings)};
  if (const auto kept = store_.Find(run)) {
    tell_(fmt::format("{}: kept from an earlier start in {}", name, store_.PathOf(run)));
    return CurveOf(name, *kept);
  }
  if (!store_.damage().empty()) tell_(store_.damage() + "; it is trained again");
  return CurveOf(
      name,
      store_.Save(run, ToJson(TrainCurve(options_, name, settings, std::move(parts), tell_))));
}

}  // namespace torus::labs
