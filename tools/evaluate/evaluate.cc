// tools/evaluate: figures of a trained model on a dataset.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "data/open_dataset.h"
#include "runtime/error.h"
#include "tools/common/user_path.h"
#include "tools/evaluate/evaluate_images.h"
#include "tools/train/model_spec.h"

namespace torus::tools {
namespace {

struct Options {
  std::string model, init, data = "cifar10", data_dir, split = "test", normalize = "dataset";
  int64_t batch = 250;
  bool per_class = false;
};

void AddFlags(CLI::App& app, Options& o) {
  app.add_option("--model", o.model, fmt::format("one of {}", fmt::join(ModelNames(), ", ")))
      ->required();
  app.add_option("--init", o.init, "its weights, a .safetensors file")->required();
  app.add_option("--data", o.data, fmt::format("one of {}", fmt::join(data::DatasetNames(), ", ")));
  app.add_option("--data-dir", o.data_dir, "folder of the dataset");
  app.add_option("--split", o.split)->check(CLI::IsMember({"train", "test"}));
  app.add_option("--normalize", o.normalize, "dataset, imagenet or half (x / 127.5 - 1)");
  app.add_option("--batch-size", o.batch, "images at a time")->check(CLI::Range(1, 1 << 20));
  app.add_flag("--per-class", o.per_class, "a line for each class");
}

void Print(const ImageEvaluation& result, const data::Dataset& dataset, bool per_class) {
  const data::ConfusionMatrix& counts = result.counts;
  if (per_class) {
    for (int64_t c = 0; c < counts.classes(); ++c)
      fmt::print("{:<16} {:>6} of {:>6} right, F1 {:.4f}\n", dataset.info().classes[c],
                 counts.At(c, c), counts.OfTarget(c), data::F1(counts, c));
  }
  fmt::print("samples {}\nloss {:.6f}\nMatthews correlation {:.4f}\naccuracy {:.2f} %\n",
             counts.total(), result.loss, data::MatthewsCorrelation(counts),
             100 * data::Accuracy(counts));
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("Evaluates a trained model on a dataset.", "evaluate");
  AddFlags(app, o);
  CLI11_PARSE(app, argc, argv);
  const data::Split split = o.split == "test" ? data::Split::kTest : data::Split::kTrain;
  const auto dataset = data::OpenDataset(o.data, UserPath(o.data_dir), split);
  Require(ParseModelSpec(o.model).input == ModelInput::kImages, "evaluate",
          "--model {} takes no images", o.model);
  const auto model = BuildModel(o.model, static_cast<int64_t>(dataset->info().classes.size()),
                                /*seed=*/0, UserPath(o.init));
  Print(EvaluateImages(*model, *dataset, NormalizationByName(o.normalize, *dataset), o.batch),
        *dataset, o.per_class);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  try {
    return torus::tools::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "evaluate: {}\n", error.what());
    return dynamic_cast<const torus::BadInput*>(&error) != nullptr ? 2 : 1;
  }
}
