#include "data/datasets/image_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "data/files/file.h"

namespace torus::data {
namespace {

// What was said of a file, without the tag that names it.
std::string ReasonOf(const BadInput& error, const std::string& path) {
  std::string_view what = error.what();
  const std::string tag = fmt::format("[{}] ", path);
  if (what.starts_with(tag)) what.remove_prefix(tag.size());
  return std::string(what);
}

}  // namespace

ImageFiles::ImageFiles(DatasetInfo info, std::vector<ImageFile> files) : info_(std::move(info)) {
  const auto classes = static_cast<int64_t>(info_.classes.size());
  for (const ImageFile& file : files) {
    Require(file.label >= 0 && file.label < classes, info_.name,
            "requires labels of 0 to {}, got {} for {}", classes - 1, file.label, file.path);
  }
  CheckFiles(std::move(files));
  Require(!files_.empty(), info_.name, "requires at least one image, got {} bad files{}",
          left_out_.size(),
          left_out_.empty()
              ? ""
              : fmt::format(", the first one {}: {}", left_out_[0].where, left_out_[0].reason));
}

void ImageFiles::CheckFiles(std::vector<ImageFile> files) {
  std::optional<ImageSize> common;
  bool alike = true;
  for (ImageFile& file : files) {
    try {
      const ImageSize size = CheckImage(ReadFile(file.path), file.path);
      alike = alike && common.value_or(size) == size;
      common = size;
      files_.push_back(std::move(file));
    } catch (const BadInput& e) {
      left_out_.push_back({file.path, ReasonOf(e, file.path)});
    }
  }
  info_.image = common.has_value() && alike ? Shape{common->height, common->width, 3} : Shape{};
}

// Undefined where the file turns out damaged.
Tensor ImageFiles::Decode(int64_t index) const {
  const std::string& path = files_[index].path;
  try {
    return ReadImage(path);
  } catch (const BadInput& e) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(left_out_, path, &LeftOut::where) == left_out_.end())
      left_out_.push_back({path, ReasonOf(e, path)});
    return {};
  }
}

// Round and round: the same index again where it is the only one.
int64_t ImageFiles::NextOfClass(int64_t index) const {
  const int64_t label = files_[index].label;
  do {
    index = (index + 1) % size();
  } while (files_[index].label != label);
  return index;
}

Sample ImageFiles::Get(int64_t index) const {
  Require(index >= 0 && index < size(), info_.name, "requires an example of 0 to {}, got {}",
          size() - 1, index);
  int64_t at = index;
  Tensor image = Decode(at);
  while (!image.defined()) {
    at = NextOfClass(at);
    Require(at != index, info_.name, "requires an image of class {} that can be decoded, got none",
            info_.classes[files_[index].label]);
    image = Decode(at);
  }
  return {{std::move(image)}, FromVector<int64_t>({files_[index].label}, {})};
}

std::vector<LeftOut> ImageFiles::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

}  // namespace torus::data
