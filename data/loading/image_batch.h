// Makes a model's batches from the images of a dataset: augment, normalise, stack.
#pragma once

#include <optional>
#include <string>

#include "data/datasets/dataset.h"
#include "data/images/mix.h"
#include "data/loading/batch.h"

namespace torus::data {

// How images become a batch.
struct ImageBatchOptions {
  std::string augment = "none";                     // a name of AugmentNames()
  int64_t height = 0, width = 0;                    // the model's input size; 0: the dataset's own
  uint64_t seed = 0;                                // for the augmentation
  std::optional<Normalization> normalization = {};  // overrides the dataset's own
  // Leaves the inputs as u8, in pinned memory if there are GPUs; Batch::prepare then normalises
  // them. With mixup and erasing, whose values are no bytes, the inputs are normalised f32 there.
  bool normalizes_on_device = false;
  // Of erasing a window of an image (RandomErasing): its values become 0, the mean of normalised
  // ones.
  double erasing = 0;
  // Mixes each image with the next one of the global mini-batch (MicroBatch::next). The target is
  // then f32 (n, classes): the share of each class.
  MixOptions mix = {};
  // An example that is left out becomes a black image of class kNoClass, which does not count. If
  // false, the dataset may put another in its place.
  bool evaluates = false;
};

// The MakeBatch of an image dataset: inputs {f32 (n, height, width, C)}, target i64 (n), also for n
// = 0. Normalises with the dataset's constants unless options say otherwise. `dataset` must outlive
// it. Ticks the thread's progress after each image. Throws BadInput if the dataset has no
// normalisation (it has no images), if neither it nor `options` gives a size, or if no augmentation
// has that name.
MakeBatch ImageBatches(const Dataset& dataset, const ImageBatchOptions& options);

}  // namespace torus::data
