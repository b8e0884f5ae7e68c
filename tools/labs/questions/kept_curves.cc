#include "tools/labs/questions/kept_curves.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace torus::labs {
namespace {

using Json = nlohmann::json;

Json JsonOf(const Curve& curve) {
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
  for (const Json& epoch : json.at("epochs")) curve.epochs.push_back(EpochFromJson(epoch));
  curve.test = {NumberFromJson(test.at("loss")), NumberFromJson(test.at("accuracy")),
                test.at("images")};
  return curve;
}

}  // namespace

KeptCurves::KeptCurves(const LabOptions& options, Tell tell)
    : options_(options), tell_(tell), kept_(options, kKeptCurves, tell) {}

Curve KeptCurves::Train(const std::string& name, const recipes::Settings& settings,
                        LabParts parts) {
  bool kept = true;
  const Curve curve =
      CurveOf(name, kept_.Get(name, settings.seed, KeySettings(options_, settings), [&] {
        kept = false;
        return JsonOf(TrainCurve(options_, name, settings, std::move(parts), tell_));
      }));
  if (kept) tell_(TestLine(curve));
  return curve;
}

}  // namespace torus::labs
