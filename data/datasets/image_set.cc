#include "data/datasets/image_set.h"

#include <algorithm>
#include <utility>

namespace torus::data {

void CheckLabels(const std::string& path, const Tensor& labels, int64_t classes) {
  const int64_t* const begin = labels.data<int64_t>();
  const int64_t* const end = begin + labels.numel();
  const int64_t* const bad =
      std::find_if(begin, end, [&](int64_t label) { return label < 0 || label >= classes; });
  if (bad != end) {
    Throw<BadInput>(path, "requires labels of 0 to {}, got {} at example {}", classes - 1, *bad,
                    bad - begin);
  }
}

ImageSet::ImageSet(DatasetInfo info, Tensor images, Tensor labels)
    : info_(std::move(info)), images_(std::move(images)), labels_(std::move(labels)) {
  Require(images_.rank() == 4 && images_.dtype() == DType::kU8 && images_.is_contiguous(),
          info_.name, "requires contiguous u8 images (N, H, W, C), got {}", images_);
  Require(labels_.rank() == 1 && labels_.dim(0) == images_.dim(0), info_.name,
          "requires as many labels as images, got {} labels and {} images", labels_.numel(),
          images_.dim(0));
  Require(images_.numel() > 0, info_.name, "requires at least one image, got {}", images_.shape());
  CheckLabels(info_.name, labels_, static_cast<int64_t>(info_.classes.size()));
  info_.image = {images_.dim(1), images_.dim(2), images_.dim(3)};
}

Sample ImageSet::Get(int64_t index) const {
  Require(index >= 0 && index < size(), info_.name, "requires an example of 0 to {}, got {}",
          size() - 1, index);
  return {{images_.Select(0, index)}, labels_.Select(0, index)};
}

}  // namespace torus::data
