// From the images of a dataset to the batch that a model takes: augment, normalise, stack.
#pragma once

#include <optional>
#include <string>

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"

namespace torus::data {

struct ImageBatchOptions {
  std::string augment = "none";                // a name of AugmentNames()
  int64_t height = 0, width = 0;               // of the model's input; 0: the dataset's own
  uint64_t seed = 0;                           // of the augmentation
  std::optional<Normalization> normalization;  // instead of the dataset's own
  // Inputs are u8, in pinned memory where there are GPUs, and Batch::prepare normalises them.
  bool normalizes_on_device = false;
};

// The MakeBatch of an image dataset: inputs {f32 (n, height, width, C)}, target i64 (n), also where
// n is 0. Normalised by the dataset's constants. `dataset` must outlive it. Ticks the thread's
// progress after each image. BadInput when the dataset has no normalisation (it is not one of
// images), has no size of its own where none is given, or no augmentation has that name.
MakeBatch ImageBatches(const Dataset& dataset, const ImageBatchOptions& options);

}  // namespace torus::data
