#include "data/loading/image_batch.h"

#include <utility>

#include "data/images/augment.h"
#include "runtime/progress.h"

namespace torus::data {
namespace {

class ImageBatcher {
 public:
  ImageBatcher(const Dataset& dataset, const ImageBatchOptions& options, Shape image)
      : dataset_(dataset),
        seed_(options.seed),
        image_(std::move(image)),
        normalizer_(options.normalization.value_or(dataset.info().normalization)),
        augment_(MakeAugment(options.augment, image_[0], image_[1])) {}

  Batch operator()(const MicroBatch& part) const {
    const auto count = static_cast<int64_t>(part.indices.size());
    Tensor images({count, image_[0], image_[1], image_[2]}, DType::kF32);
    Tensor labels({count}, DType::kI64);
    float* pixels = images.mutable_data<float>();
    int64_t* label = labels.mutable_data<int64_t>();
    for (const int64_t index : part.indices) {
      const Sample sample = dataset_.Get(index);
      Write(augment_(sample.inputs[0], AugmentStream(seed_, part.epoch, index)), pixels);
      *label++ = *sample.target.data<int64_t>();
      pixels += Numel(image_);
      TickProgress();
    }
    return {{std::move(images)}, std::move(labels), part.samples};
  }

 private:
  void Write(const Tensor& image, float* out) const {
    TORUS_CHECK(image.shape() == image_, "{} for {}", ToString(image.shape()), ToString(image_));
    normalizer_.Apply(image, out);
  }

  const Dataset& dataset_;
  uint64_t seed_;
  Shape image_;
  Normalizer normalizer_;
  Augment augment_;
};

}  // namespace

MakeBatch ImageBatches(const Dataset& dataset, const ImageBatchOptions& options) {
  const DatasetInfo& info = dataset.info();
  Shape image = info.image.rank() == 3 ? info.image : Shape{0, 0, 3};
  if (options.height != 0) image[0] = options.height;
  if (options.width != 0) image[1] = options.width;
  Require(image[0] >= 1 && image[1] >= 1, info.name,
          "requires a height and a width: its images have no size of their own");
  return ImageBatcher(dataset, options, image);
}

}  // namespace torus::data
