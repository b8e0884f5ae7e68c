// Images to classify.
#include "data/image_batch.h"
#include "data/open_dataset.h"
#include "tools/train/task_data.h"

namespace torus::tools {
namespace {

struct Images {
  std::unique_ptr<data::Dataset> train, test;
};

DataPart Part(const data::Dataset& dataset, const Settings& settings, bool training) {
  return {dataset.size(),
          data::ImageBatches(
              dataset, {.augment = training ? settings.augment : "none", .seed = settings.seed}),
          training};
}

std::string Title(const std::string& name) {
  if (name == "fashion-mnist") return "Fashion-MNIST";
  if (name == "cifar10") return "CIFAR-10";
  return name == "cifar100" ? "CIFAR-100" : name;
}

}  // namespace

TaskData OpenImages(const Settings& settings) {
  const auto images = std::make_shared<Images>();
  images->train = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTrain);
  images->test = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTest);
  const Shape image = images->test->info().image;
  return {.title = Title(settings.data),
          .unit = "images",
          .classes = static_cast<int64_t>(images->test->info().classes.size()),
          .train = Part(*images->train, settings, true),
          .test = Part(*images->test, settings, false),
          .inputs =
              [image](int64_t rows) {
                const Shape batch = {rows, image[0], image[1], image[2]};
                return std::vector<parallel::TensorSpec>{{batch, DType::kF32}};
              },
          .loss = ClassLoss,
          .correct = CountCorrect,
          .owner = images};
}

}  // namespace torus::tools
