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
          data::ImageBatches(dataset, {.augment = training ? settings.augment : "none",
                                       .height = settings.image_size,
                                       .width = settings.image_size,
                                       .seed = settings.seed}),
          training};
}

}  // namespace

TaskData OpenImages(const Settings& settings) {
  const auto images = std::make_shared<Images>();
  images->train = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTrain);
  images->test = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTest);
  const data::DatasetInfo& info = images->train->info();
  return {.form = ImageForm(DataTitle(settings.data), info.image,
                            static_cast<int64_t>(info.classes.size()), settings),
          .unit = "images",
          .train = Part(*images->train, settings, true),
          .test = Part(*images->test, settings, false),
          .loss = ClassLoss,
          .correct = CountCorrect,
          .left_out = [images] { return LeftOutOf(*images->train, *images->test); },
          .owner = images};
}

}  // namespace torus::tools
