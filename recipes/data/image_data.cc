// Images to classify.
#include "data/datasets/open_dataset.h"
#include "data/loading/image_batch.h"
#include "recipes/data/order_hash.h"
#include "recipes/data/task_data.h"
#include "recipes/model/model_of.h"

namespace torus::recipes {
namespace {

struct Images {
  std::unique_ptr<data::Dataset> train, test;
};

// `image`: (H, W, 3), the size of the model's input, to which all images are resized.
DataPart Part(const data::Dataset& dataset, const Settings& settings, const Shape& image,
              bool training) {
  return {dataset.size(),
          data::ImageBatches(dataset, {.augment = training ? settings.augment : "none",
                                       .height = image[0],
                                       .width = image[1],
                                       .seed = settings.seed,
                                       .normalizes_on_device = settings.device == "cuda",
                                       .evaluates = !training}),
          training, OrderHash(dataset)};
}

}  // namespace

TaskData OpenImages(const Settings& settings) {
  const auto images = std::make_shared<Images>();
  images->train = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTrain);
  images->test = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTest);
  const data::DatasetInfo& info = images->train->info();
  const DataForm form = ImageForm(DataTitle(settings.data), info.image,
                                  static_cast<int64_t>(info.classes.size()), settings);
  const Shape batch = form.inputs(1)[0].shape, image{batch[1], batch[2], batch[3]};
  return {.form = form,
          .unit = "images",
          .train = Part(*images->train, settings, image, true),
          .test = Part(*images->test, settings, image, false),
          .loss = TaskLoss(ModelOf(settings), PrecisionOf(settings)),
          .correct = CountCorrect,
          .left_out = [images] { return LeftOutOf(*images->train, *images->test); },
          .passed_over = [images] { return PassedOverOf(*images->train, *images->test); },
          .owner = images};
}

}  // namespace torus::recipes
