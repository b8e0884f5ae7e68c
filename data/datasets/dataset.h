// Dataset: examples by number, of images and texts alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/images/normalization.h"
#include "runtime/shape.h"
#include "runtime/tensor.h"

namespace torus::data {

// One example as it is stored: before augmentation and normalisation.
struct Sample {
  // An image dataset has one, u8 (H, W, C); a text dataset has i64 (T) token numbers, and a mask or
  // segments beside them.
  std::vector<Tensor> inputs;
  // i64 scalar: the class. (A dataset with other targets gives them another shape or dtype.)
  Tensor target;
};

enum class Split { kTrain, kTest };
inline std::string_view Name(Split split) { return split == Split::kTrain ? "train" : "test"; }

// What is true of a dataset as a whole.
struct DatasetInfo {
  std::string name;                  // "cifar10 test"
  std::vector<std::string> classes;  // names of the classes 0, 1, ...
  Shape image;                       // (H, W, C) of images of one size; rank 0 of all others
  Normalization normalization;       // of images
};

// An example that cannot be used because its file or line is missing or damaged.
struct LeftOut {
  std::string where;   // "train/dog/7.jpg", "train.tsv line 12"
  std::string reason;  // the error's message without the place
};

// Immutable after it is made: any number of threads may read.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DatasetInfo& info() const = 0;
  virtual int64_t size() const = 0;  // at least 1
  // Example `index`, in [0, size()); BadInput outside of it. Tensors may share the dataset's
  // memory: do not write to them.
  virtual Sample Get(int64_t index) const = 0;
  // All examples found to be unusable so far, sorted by `where`; Get may find more. Empty for
  // datasets that refuse to open with a damaged file.
  virtual std::vector<LeftOut> left_out() const { return {}; }
};

}  // namespace torus::data
