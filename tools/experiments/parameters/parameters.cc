#include "tools/experiments/parameters/parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "recipes/blocks/build_blocks.h"
#include "recipes/data/data_form.h"
#include "tools/experiments/common/published.h"

namespace torus::experiments {
namespace {

double MillionsOf(const std::string& flags, bool of_its_data) {
  const recipes::Settings settings = SettingsOf(flags);
  const recipes::DataForm form =
      of_its_data ? *recipes::KnownForm(settings)
                  : recipes::PublishedForm(settings, [](const char*) { return false; });
  double count = 0;
  for (const nn::LayerSummary& layer : recipes::DescribeLayers(settings, form))
    count += static_cast<double>(layer.parameters);
  return 1e-6 * count;
}

struct Count {
  std::string model, what;
  double millions = 0;
};

// The authors name no size: of 18 layers, torchgpipe's, the filters that come nearest.
Count NearestAmoebaNet(double millions) {
  Count best;
  for (int filters = 16; filters <= 96; filters += 8) {
    const std::string model = fmt::format("amoebanetd:18,{}", filters);
    const Count count{model, fmt::format("18 layers, {} filters: the nearest size", filters),
                      MillionsOf("--model " + model, false)};
    if (best.model.empty() ||
        std::fabs(count.millions - millions) < std::fabs(best.millions - millions))
      best = count;
  }
  return best;
}

Count CountOf(const std::string& published, double millions) {
  if (published == "MobileNetV2")
    return {"mobilenet_v2", "10 classes", MillionsOf("--model mobilenet_v2 --data cifar10", true)};
  if (published == "RoBERTa-base")
    return {"roberta", "a head of two classes", MillionsOf("--model roberta --data rte", true)};
  if (published == "VGG13") return {"vgg13", "1000 classes", MillionsOf("--model vgg13", false)};
  if (published == "ResNet-101")
    return {"resnet101", "1000 classes", MillionsOf("--model resnet101", false)};
  return NearestAmoebaNet(millions);
}

study::Page PageOf(Scale, const Runs&) {
  const Published published("parameters", kParametersPublished);
  study::Table table("Parameters of each model", {{"published as"},
                                                  {"published", "M"},
                                                  {"our model"},
                                                  {"ours", "M", 3},
                                                  {"difference", "%", 1},
                                                  {"counted with"}});
  study::Plot plot{.title = "Parameters of each model",
                   .x = {"model"},
                   .y = {"parameters", "M"},
                   .series = {{"published", {}}, {"ours", {}}},
                   .kind = study::PlotKind::kBars};
  for (size_t row = 0; row < published.rows(); ++row) {
    const std::string& name = published.Text(row, "model");
    const double theirs = *published.Number(row, "millions");
    const Count ours = CountOf(name, theirs);
    table.Add(
        {name, theirs, ours.model, ours.millions, 100 * (ours.millions / theirs - 1), ours.what});
    plot.categories.push_back(name);
    plot.series[0].points.push_back({double(row), theirs});
    plot.series[1].points.push_back({double(row), ours.millions});
  }
  return {.title = "Parameters",
          .lead = "Counted from shapes, beside the published counts.",
          .parts = {study::Heading{"The table"}, table, plot, study::Heading{"What differs"},
                    study::Paragraph{
                        "The published counts are rounded: MobileNetV2 with 10 classes has 2.24 "
                        "million, printed as 2. RoBERTa-base has 124.1 million "
                        "without its classifier, 124.6 with it; which part the authors left out "
                        "they do not say. Of AmoebaNet-D the authors "
                        "name neither layers nor filters; torchgpipe's own sizes begin at 81.5 "
                        "million, so the row shows the size of 18 layers that comes nearest."}}};
}

}  // namespace

Experiment Parameters() {
  return {"parameters", "Counts each model's parameters beside the published counts.", {}, PageOf};
}

}  // namespace torus::experiments
