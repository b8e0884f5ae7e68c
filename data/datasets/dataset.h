// Dataset: numbered examples, for images and texts alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/images/normalization.h"
#include "runtime/shape.h"
#include "runtime/tensor.h"

namespace torus::data {

// One example as it is stored: before augmentation and normalisation.
struct Sample {
  // An image dataset has one input, u8 (H, W, C). A text dataset has i64 (T) token numbers and may
  // add a mask or segments.
  std::vector<Tensor> inputs;
  // The class, an i64 scalar. (Datasets with other targets use another shape or dtype.)
  Tensor target;
};

// The two parts of a dataset.
enum class Split { kTrain, kTest };
// "train" or "test".
inline std::string_view Name(Split split) { return split == Split::kTrain ? "train" : "test"; }

// Properties of a whole dataset.
struct DatasetInfo {
  std::string name;                  // "cifar10 test"
  std::vector<std::string> classes;  // names of the classes 0, 1, ...
  Shape image;                       // (H, W, C) if all images have one size, else rank 0
  Normalization normalization;       // images only
};

// An example that cannot be used because its file or line is missing or damaged; or something that
// is no example.
struct LeftOut {
  std::string where;   // "train/dog/7.jpg", "train.tsv line 12"
  std::string reason;  // the error's message without the place
};

// The class of an example that does not count in an evaluation because it is left out. Cross
// entropy ignores it.
inline constexpr int64_t kNoClass = -100;

// Immutable after construction: any number of threads may read it.
class Dataset {
 public:
  virtual ~Dataset() = default;
  // What holds for all examples.
  virtual const DatasetInfo& info() const = 0;
  virtual int64_t size() const = 0;  // at least 1
  // Returns example `index`; throws BadInput outside of [0, size()). Tensors may share the
  // dataset's memory: do not write to them.
  virtual Sample Get(int64_t index) const = 0;
  // The same for an evaluation: none if the example is left out, where Get may give another in its
  // place.
  virtual std::optional<Sample> GetUnlessLeftOut(int64_t index) const { return Get(index); }
  // All examples found unusable so far, sorted by `where`; Get may find more. Empty for datasets
  // that refuse to open if a file is damaged.
  virtual std::vector<LeftOut> left_out() const { return {}; }
  // What its folder has besides the examples, sorted by `where`: other files, and further frames of
  // images, which Get may find.
  virtual std::vector<LeftOut> passed_over() const { return {}; }
};

}  // namespace torus::data
