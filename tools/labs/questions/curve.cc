#include "tools/labs/questions/curve.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace torus::labs {
namespace {

std::vector<study::Series> SeriesOf(const std::vector<Curve>& curves,
                                    const std::function<double(const Epoch&)>& value) {
  std::vector<study::Series> all;
  for (const Curve& curve : curves) {
    study::Series series{.name = curve.name};
    for (const Epoch& epoch : curve.epochs)
      series.points.push_back({static_cast<double>(epoch.number), value(epoch)});
    all.push_back(series);
  }
  return all;
}

}  // namespace

Curve TrainCurve(const LabOptions& o, const std::string& name, const recipes::Settings& settings,
                 LabParts parts, const Tell& tell) {
  parts.images = o.images;
  parts.test_images = o.test_images;
  parts.links = LinksOf(o, settings.replicas);
  LabRun run(settings, std::move(parts));
  Curve curve{.name = name, .batch = settings.batch_size};
  for (int64_t i = 0; i < o.epochs; ++i) {
    curve.epochs.push_back(run.TrainEpoch());
    const Epoch& epoch = curve.epochs.back();
    tell(fmt::format("{}, epoch {}: training loss {:.4f}, accuracy {:.1f} %, {:.1f} s", name,
                     epoch.number, epoch.loss, 100 * epoch.accuracy, epoch.seconds));
  }
  curve.test = run.Test();
  tell(TestLine(curve));
  return curve;
}

std::string TestLine(const Curve& curve) {
  return fmt::format("{}: test accuracy {:.1f} %", curve.name, 100 * curve.test.accuracy);
}

std::string SmallName(const LabOptions& o) {
  return fmt::format("batch {}, 1 rank", o.small_batch);
}

study::Plot AccuracyPlot(const std::vector<Curve>& curves) {
  return {.title = "Training accuracy",
          .x = {"epoch"},
          .y = {"accuracy", "%"},
          .series = SeriesOf(curves, [](const Epoch& epoch) { return 100 * epoch.accuracy; })};
}

study::Plot LossPlot(const std::vector<Curve>& curves) {
  return {.title = "Training loss",
          .x = {"epoch"},
          .y = {"loss"},
          .series = SeriesOf(curves, [](const Epoch& epoch) { return epoch.loss; })};
}

}  // namespace torus::labs
