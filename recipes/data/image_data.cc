// Images to classify.
#include <algorithm>
#include <filesystem>

#include "data/datasets/image_files.h"
#include "data/datasets/make_image_cache.h"
#include "data/datasets/open_dataset.h"
#include "data/loading/image_batch.h"
#include "recipes/data/order_hash.h"
#include "recipes/data/task_data.h"
#include "recipes/data/validation_part.h"
#include "recipes/model/model_of.h"
#include "recipes/report/units.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

struct Images {
  std::unique_ptr<data::Dataset> train, test;
  // The training images from their files, to validate on, where `train` takes them from a cache.
  std::unique_ptr<data::Dataset> uncached;
};

// `image`: (H, W, 3), the size of the model's input, to which all images are resized.
DataPart Part(const data::Dataset& dataset, const Settings& settings, const Shape& image,
              bool training) {
  return {dataset.size(),
          data::ImageBatches(dataset,
                             {.augment = training ? settings.augment : "none",
                              .height = image[0],
                              .width = image[1],
                              .seed = settings.seed,
                              .normalizes_on_device = settings.device == "cuda",
                              .erasing = training ? settings.random_erasing : 0,
                              .mix = training ? data::MixOptions{settings.mixup, settings.cutmix}
                                              : data::MixOptions{},
                              .evaluates = !training}),
          training, OrderHash(dataset)};
}

// For 224 it is 256: the ratio in which torchvision shrinks ImageNet's images before it cuts them.
int64_t CachedSide(const Shape& image) { return (std::max(image[0], image[1]) * 8 + 3) / 7; }

// For another process that makes the cache and shows no progress.
constexpr double kCacheTimeout = 60;

// Opens or makes the cache of the training images. Returns the line for the user.
std::string UseCache(data::Dataset& train, const Settings& settings, const Shape& image) {
  if (settings.image_cache.empty()) return "";
  auto* const files = dynamic_cast<data::ImageFiles*>(&train);
  Require(files != nullptr, "train", "--image-cache is for datasets of image files, not for {}",
          DataTitle(settings.data));
  const int64_t side = CachedSide(image);
  const std::filesystem::path dir = std::filesystem::path(settings.data_dir + "/").parent_path();
  const std::string folder = fmt::format("{}/{}-{}-train-{}", settings.image_cache, settings.data,
                                         dir.filename().string(), side);
  const data::MadeCache made = data::OpenOrMakeImageCache(*files, folder, side, kCacheTimeout);
  files->UseCache(made.cache);
  const size_t left_out = made.cache->index().left_out.size();
  return fmt::format("image cache: {} of {} training images, {} in {}{}{}",
                     FormatCount(static_cast<double>(train.size() - left_out)),
                     FormatCount(static_cast<double>(train.size())),
                     FormatBytes(made.cache->bytes()), folder,
                     made.made ? ", made in " + FormatSeconds(made.seconds) : "",
                     left_out == 0 ? "" : "; the others are left out");
}

// Holds out the share --validation of the training images.
void HoldOut(Images& images, const Settings& settings, const Shape& image, TaskData& task) {
  if (settings.validation == 0) return;
  HeldOut parts = recipes::HoldOut(images.train->size(), settings.validation);
  if (auto* const files = dynamic_cast<data::ImageFiles*>(images.train.get()))
    files->KeepApart(parts.validation);
  if (!settings.image_cache.empty())
    images.uncached = data::OpenDataset(settings.data, settings.data_dir, data::Split::kTrain);
  const data::Dataset& whole = images.uncached ? *images.uncached : *images.train;
  task.validation = Divide(std::move(parts), Part(whole, settings, image, false), task.train);
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
  std::string cache = UseCache(*images->train, settings, image);
  TaskData task{
      .form = form,
      .unit = "images",
      .train = Part(*images->train, settings, image, true),
      .test = Part(*images->test, settings, image, false),
      .loss = TaskLoss(ModelOf(settings), PrecisionOf(settings), settings.label_smoothing),
      .correct = CountCorrect,
      .left_out = [images] { return LeftOutOf(*images->train, *images->test); },
      .passed_over = [images] { return PassedOverOf(*images->train, *images->test); },
      .cache = std::move(cache),
      .owner = images};
  HoldOut(*images, settings, image, task);
  return task;
}

}  // namespace torus::recipes
