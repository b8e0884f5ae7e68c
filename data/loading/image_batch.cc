#include "data/loading/image_batch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "data/images/augment.h"
#include "data/images/device_normalizer.h"
#include "data/images/random_erasing.h"
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
        memory_(options.normalizes_on_device ? BatchMemory::kPinned : BatchMemory::kOrdinary),
        on_device_(options.normalizes_on_device && options.mix.mixup == 0 && options.erasing == 0),
        erasing_(options.erasing),
        mix_(options.mix),
        evaluates_(options.evaluates),
        normalizer_(options.normalization.value_or(dataset.info().normalization)),
        device_normalizer_(std::make_shared<DeviceNormalizer>(
            options.normalization.value_or(dataset.info().normalization))),
        augment_(MakeAugment(options.augment, image_[0], image_[1])) {}

  Batch operator()(const MicroBatch& part) const {
    const auto count = static_cast<int64_t>(part.indices.size());
    const Shape shape{count, image_[0], image_[1], image_[2]};
    Batch batch{.inputs = {EmptyIn(memory_, shape, on_device_ ? DType::kU8 : DType::kF32)},
                .target = EmptyIn(memory_, {count}, DType::kI64),
                .samples = part.samples};
    int64_t* const label = batch.target.mutable_data<int64_t>();
    for (int64_t row = 0; row < count; ++row) {
      label[row] = Put(part.epoch, part.indices[row], row, batch.inputs[0]);
      TickProgress();
    }
    if (mix_.any()) Mix(part, batch);
    if (on_device_)
      batch.prepare = [normalizer = device_normalizer_](std::vector<Tensor>& inputs) {
        inputs[0] = normalizer->Apply(inputs[0]);
      };
    return batch;
  }

 private:
  // Writes an image to a row of `images`. Returns its class.
  int64_t Put(int64_t epoch, int64_t index, int64_t row, Tensor& images) const {
    const Sample sample = evaluates_ ? ToEvaluate(index) : dataset_.Get(index);
    Write(augment_(sample.inputs[0], AugmentStream(seed_, epoch, index)), row, images);
    if (erasing_ > 0)
      if (const auto window =
              RandomErasing(erasing_, image_[0], image_[1], ErasingStream(seed_, epoch, index)))
        Erase(*window, images.mutable_data<float>() + row * image_[0] * image_[1] * image_[2]);
    return *sample.target.data<int64_t>();
  }

  void Erase(const Window& window, float* image) const {
    for (int64_t y = window.top; y < window.top + window.height; ++y)
      std::fill_n(image + (y * image_[1] + window.left) * image_[2], window.width * image_[2],
                  0.0f);
  }

  // Each image is mixed with the one that follows it, which is not mixed yet.
  void Mix(const MicroBatch& part, Batch& batch) const {
    const auto count = static_cast<int64_t>(part.indices.size());
    const auto classes = static_cast<int64_t>(dataset_.info().classes.size());
    Tensor target = EmptyIn(memory_, {count, classes}, DType::kF32);
    std::fill_n(target.mutable_data<float>(), target.numel(), 0.0f);
    if (count > 0) {
      TORUS_CHECK(part.next >= 0, "a micro-batch that does not know the next example");
      Tensor next = Empty({1, image_[0], image_[1], image_[2]}, batch.inputs[0].dtype());
      const int64_t next_label = Put(part.epoch, part.next, 0, next);
      const int64_t* const label = batch.target.data<int64_t>();
      for (int64_t row = 0; row < count; ++row) {
        const bool last = row + 1 == count;
        const Mixture mixture =
            DrawMixture(mix_, image_[0], image_[1], seed_, part.epoch, part.indices[row]);
        const auto own = static_cast<float>(mixture.share);
        float* const shares = target.mutable_data<float>() + row * classes;
        shares[label[row]] += own;
        shares[last ? next_label : label[row + 1]] += 1 - own;
        if (on_device_)
          MixRow<uint8_t>(mixture, row, last ? next : batch.inputs[0], last ? 0 : row + 1, batch);
        else
          MixRow<float>(mixture, row, last ? next : batch.inputs[0], last ? 0 : row + 1, batch);
      }
    }
    batch.target = target;
  }

  template <class T>
  void MixRow(const Mixture& mixture, int64_t row, const Tensor& others, int64_t other_row,
              Batch& batch) const {
    const int64_t values = image_[0] * image_[1] * image_[2];
    const T* const other = others.data<T>() + other_row * values;
    T* const own = batch.inputs[0].mutable_data<T>() + row * values;
    if constexpr (std::is_same_v<T, float>) {
      const auto share = static_cast<float>(mixture.share);
      for (int64_t i = 0; mixture.blends && i < values; ++i)
        own[i] = share * own[i] + (1 - share) * other[i];
    }
    const Window& window = mixture.window;
    for (int64_t y = window.top; y < window.top + window.height; ++y) {
      const int64_t begin = (y * image_[1] + window.left) * image_[2];
      std::copy_n(other + begin, window.width * image_[2], own + begin);
    }
  }

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
  BatchMemory memory_;
  bool on_device_;  // normalises there
  double erasing_;
  MixOptions mix_;
  bool evaluates_;
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
