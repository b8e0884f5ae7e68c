// ImageFiles: a dataset of image files, decoded as they are asked for.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "data/images/decode.h"

namespace torus::data {

struct ImageFile {
  std::string path;
  int64_t label = 0;
};

// Damaged files are left out, which left_out() tells, and never end a run:
//  - On opening, each file is read once; one that is missing, or fails CheckImage, is no example.
//  - One that passes and still cannot be decoded stands for the next file of its class that can be,
//    from then on and in every run alike.
class ImageFiles : public Dataset {
 public:
  // Fills in `info.image` where all images have one size. BadInput, tagged with the dataset's name,
  // for a label that is none of info.classes, and when no file is left; it says why the first was
  // not.
  ImageFiles(DatasetInfo info, std::vector<ImageFile> files);

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  // u8 (H, W, 3) and the class. BadInput where no file of a class can be decoded.
  Sample Get(int64_t index) const override;

  const std::string& path(int64_t index) const { return files_[index].path; }
  std::vector<LeftOut> left_out() const override;

 private:
  void CheckFiles(std::vector<ImageFile> files);
  Tensor Decode(int64_t index) const;
  int64_t NextOfClass(int64_t index) const;

  DatasetInfo info_;
  std::vector<ImageFile> files_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<LeftOut> left_out_;
};

}  // namespace torus::data
