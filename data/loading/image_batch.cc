#include "data/loading/image_batch.h"

#include <memory>
#include <optional>
#include <utility>

#include "data/images/augment.h"
#include "data/images/device_normalizer.h"
#include "data/loading/batch_memory.h"
#include "runtime/copy_bytes.h"
#include "runtime/progress.h"

namespace torus::data {
namespace {

class ImageBatcher {
 public:
  ImageBatcher(const Dataset& dataset, const ImageBatchOptions& options, Shape image)
      : dataset_(dataset),
        seed_(options.seed),
        image_(std::move(image)),
        on_device_(options.normalizes_on_device),
        evaluates_(options.evaluates),
        normalizer_(options.normalization.value_or(dataset.info().normalization)),
        device_normalizer_(std::make_shared<DeviceNormalizer>(
            options.normalization.value_or(dataset.info().normalization))),
        augment_(MakeAugment(options.augment, image_[0], image_[1])) {}

  Batch operator()(const MicroBatch& part) const {
    const auto count = static_cast<int64_t>(part.indices.size());
    const Shape shape{count, image_[0], image_[1], image_[2]};
    const BatchMemory memory = on_device_ ? BatchMemory::kPinned : BatchMemory::kOrdinary;
    Batch batch{.inputs = {EmptyIn(memory, shape, on_device_ ? DType::kU8 : DType::kF32)},
                .target = EmptyIn(memory, {count}, DType::kI64),
                .samples = part.samples};
    int64_t* label = batch.target.mutable_data<int64_t>();
    for (int64_t row = 0; row < count; ++row) {
      const int64_t index = part.indices[row];
      const Sample sample = evaluates_ ? ToEvaluate(index) : dataset_.Get(index);
      Write(augment_(sample.inputs[0], AugmentStream(seed_, part.epoch, index)), row,
            batch.inputs[0]);
      *label++ = *sample.target.data<int64_t>();
      TickProgress();
    }
    if (on_device_)
      batch.prepare = [normalizer = device_normalizer_](std::vector<Tensor>& inputs) {
        inputs[0] = normalizer->Apply(inputs[0]);
      };
    return batch;
  }

 private:
  Sample ToEvaluate(int64_t index) const {
    if (std::optional<Sample> sample = dataset_.GetUnlessLeftOut(index)) return *std::move(sample);
    return {{Zeros(image_, DType::kU8)}, FromVector<int64_t>({kNoClass}, {})};
  }

  void Write(const Tensor& image, int64_t row, Tensor& batch) const {
    TORUS_CHECK(image.shape() == image_, "{} for {}", ToString(image.shape()), ToString(image_));
    if (on_device_)
      CopyElements(image.data<uint8_t>(), image.numel(),
                   batch.mutable_data<uint8_t>() + row * image.numel());
    else
      normalizer_.Apply(image, batch.mutable_data<float>() + row * image.numel());
  }

  const Dataset& dataset_;
  uint64_t seed_;
  Shape image_;
  bool on_device_, evaluates_;
  Normalizer normalizer_;
  std::shared_ptr<const DeviceNormalizer> device_normalizer_;
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
