// ImageFiles: a dataset of image files, decoded as they are asked for.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/datasets/dataset.h"
#include "runtime/error.h"

namespace torus::data {

struct ImageFile {
  std::string path;
  int64_t label = 0;
};

// A file is read when its example is asked for: opening reads one image of each class, however many
// there are. One that is missing or damaged is in left_out() from then on, and the next file of its
// class that can be decoded stands for it, in every run alike.
class ImageFiles : public Dataset {
 public:
  // Fills in `info.image` where the first good files of all classes have one size. BadInput, tagged
  // with the dataset's name, for a label that is none of info.classes, and when no file is good; it
  // says why the first is not.
  ImageFiles(DatasetInfo info, std::vector<ImageFile> files);

  const DatasetInfo& info() const override { return info_; }
  // Of the files, good or not.
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  // u8 (H, W, 3) and the class. BadInput where no file of a class can be decoded.
  Sample Get(int64_t index) const override;

  const std::string& path(int64_t index) const { return files_[index].path; }
  std::vector<LeftOut> left_out() const override;

 private:
  // The size of the images; none where no file is good.
  std::optional<Shape> LookAtOneOfEachClass() const;
  Tensor Decode(int64_t index) const;
  void LeaveOut(int64_t index, const BadInput& error) const;
  bool IsLeftOut(int64_t index) const;
  int64_t NextOfClass(int64_t index) const;

  DatasetInfo info_;
  std::vector<ImageFile> files_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<LeftOut> left_out_;
  mutable std::unordered_set<int64_t> bad_;  // the indices of what is left out
};

}  // namespace torus::data
