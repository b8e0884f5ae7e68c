// ImageSet: a dataset of equal-sized images and their classes, all in memory.
#pragma once

#include <string>

#include "data/datasets/dataset.h"

namespace torus::data {

class ImageSet : public Dataset {
 public:
  // `images` is u8 (N, H, W, C), `labels` i64 (N). Fills in `info.image`. Throws BadInput, tagged
  // with the dataset's name, if the two N differ or are 0, or if a label is not one of
  // `info.classes`.
  ImageSet(DatasetInfo info, Tensor images, Tensor labels);

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return images_.dim(0); }
  Sample Get(int64_t index) const override;  // views, no copy

 private:
  DatasetInfo info_;
  Tensor images_, labels_;
};

// Throws BadInput naming `path` and the first wrong label unless every label is below `classes`.
void CheckLabels(const std::string& path, const Tensor& labels, int64_t classes);

}  // namespace torus::data
