// ImageFiles: a dataset of image files that are decoded on request.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"
#include "data/datasets/image_cache.h"
#include "runtime/error.h"

namespace torus::data {

// An image file and its class.
struct ImageFile {
  std::string path;   // absolute, or relative to the working folder
  int64_t label = 0;  // the class
};

// Files are read when their examples are requested; the constructor reads only one good image per
// class. A missing or damaged file is listed in left_out() from then on. The next file of its class
// that can be decoded replaces it, the same one in every run; in an evaluation nothing does.
class ImageFiles : public Dataset {
 public:
  // Fills in `info.image` if the first good files of all classes have the same size. Throws
  // BadInput, tagged with the dataset's name, for a label that is not in info.classes, and if no
  // file is good, with the reason of the first. `passed_over`: what lies beside the files.
  ImageFiles(DatasetInfo info, std::vector<ImageFile> files, std::vector<LeftOut> passed_over = {});

  const DatasetInfo& info() const override { return info_; }
  // The number of files, good or bad.
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  // Returns u8 (H, W, 3) and the class. Throws BadInput if no file of the class can be decoded.
  Sample Get(int64_t index) const override;
  std::optional<Sample> GetUnlessLeftOut(int64_t index) const override;

  // Of example `index`, as it was given.
  const std::string& path(int64_t index) const { return files_[index].path; }
  // Images come from the cache from now on, which is one of these files in this order; it also says
  // which of them are left out. Call it before other threads use the dataset.
  void UseCache(std::shared_ptr<const ImageCache> cache);
  // These examples replace no other from now on. Call it before other threads use the dataset.
  void KeepApart(const std::vector<int64_t>& examples);
  // The reason; empty for a file that was not found bad so far.
  std::string WhyLeftOut(int64_t index) const;
  // Whether the file was found to have further frames.
  bool HasPassedOverFrames(int64_t index) const;
  std::vector<LeftOut> left_out() const override;
  std::vector<LeftOut> passed_over() const override;

 private:
  // The size of the images, rank 0 if sizes differ; none if no file is good.
  std::optional<Shape> LookAtOneOfEachClass() const;
  Tensor Decode(int64_t index) const;
  Tensor DecodeFile(int64_t index) const;
  void LeaveOut(int64_t index, const BadInput& error) const;
  void PassOverFrames(int64_t index, const std::vector<uint8_t>& bytes) const;
  void CheckIndex(int64_t index) const;
  Sample WithClass(Tensor image, int64_t index) const;
  int64_t NextOfClass(int64_t index) const;

  DatasetInfo info_;
  std::vector<ImageFile> files_;
  std::shared_ptr<const ImageCache> cache_;
  const std::vector<LeftOut> passed_over_;
  std::set<int64_t> apart_;                     // KeepApart
  mutable std::mutex mutex_;                    // guards the members below
  mutable std::map<int64_t, std::string> bad_;  // files that are left out, and why
  mutable std::set<int64_t> long_;              // files of several frames
};

}  // namespace torus::data
