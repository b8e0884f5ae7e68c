#include "data/datasets/image_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "data/files/file.h"
#include "data/images/decode.h"

namespace torus::data {
namespace {

// The error's message without the tag that names the file.
std::string ReasonOf(const BadInput& error, const std::string& path) {
  std::string_view what = error.what();
  const std::string tag = fmt::format("[{}] ", path);
  if (what.starts_with(tag)) what.remove_prefix(tag.size());
  return std::string(what);
}

}  // namespace

ImageFiles::ImageFiles(DatasetInfo info, std::vector<ImageFile> files,
                       std::vector<LeftOut> passed_over)
    : info_(std::move(info)), files_(std::move(files)), passed_over_(std::move(passed_over)) {
  const auto classes = static_cast<int64_t>(info_.classes.size());
  for (const ImageFile& file : files_) {
    Require(file.label >= 0 && file.label < classes, info_.name,
            "requires labels of 0 to {}, got {} for {}", classes - 1, file.label, file.path);
  }
  const std::optional<Shape> size = LookAtOneOfEachClass();
  if (!size)
    Throw<BadInput>(info_.name, "requires at least one image, got {} bad files{}", bad_.size(),
                    bad_.empty() ? ""
                                 : fmt::format(", the first one {}: {}", path(bad_.begin()->first),
                                               bad_.begin()->second));
  info_.image = *size;
}

std::optional<Shape> ImageFiles::LookAtOneOfEachClass() const {
  std::vector<bool> seen(info_.classes.size());
  std::vector<ImageSize> sizes;
  for (int64_t i = 0; i < size(); ++i) {
    const auto [path, label] = files_[i];
    if (seen[label]) continue;
    try {
      sizes.push_back(CheckImage(ReadFile(path), path));
      seen[label] = true;
    } catch (const BadInput& e) {
      LeaveOut(i, e);
    }
  }
  if (sizes.empty()) return std::nullopt;
  const bool alike = std::ranges::count(sizes, sizes[0]) == std::ssize(sizes);
  return alike ? Shape{sizes[0].height, sizes[0].width, 3} : Shape{};
}

void ImageFiles::LeaveOut(int64_t index, const BadInput& error) const {
  const std::lock_guard lock(mutex_);
  bad_.emplace(index, ReasonOf(error, path(index)));
}

std::string ImageFiles::WhyLeftOut(int64_t index) const {
  const std::lock_guard lock(mutex_);
  const auto found = bad_.find(index);
  return found == bad_.end() ? "" : found->second;
}

void ImageFiles::PassOverFrames(int64_t index, const std::vector<uint8_t>& bytes) const {
  if (!HasMoreFrames(bytes, path(index))) return;
  const std::lock_guard lock(mutex_);
  long_.insert(index);
}

bool ImageFiles::HasPassedOverFrames(int64_t index) const {
  const std::lock_guard lock(mutex_);
  return long_.contains(index);
}

void ImageFiles::UseCache(std::shared_ptr<const ImageCache> cache) {
  const std::lock_guard lock(mutex_);
  const CacheIndex& index = cache->index();
  bad_.insert(index.left_out.begin(), index.left_out.end());
  for (int64_t i = 0; i < size(); ++i)
    if (index.images[i].more_frames != 0) long_.insert(i);
  cache_ = std::move(cache);
}

void ImageFiles::KeepApart(const std::vector<int64_t>& examples) {
  apart_ = {examples.begin(), examples.end()};
}

// Returns an undefined tensor if the file is missing or damaged.
Tensor ImageFiles::Decode(int64_t index) const {
  if (!WhyLeftOut(index).empty()) return {};
  return cache_ == nullptr ? DecodeFile(index) : cache_->Image(index);
}

Tensor ImageFiles::DecodeFile(int64_t index) const {
  try {
    const std::vector<uint8_t> bytes = ReadFile(path(index));
    Tensor image = DecodeImage(bytes, path(index));
    PassOverFrames(index, bytes);
    return image;
  } catch (const BadInput& e) {
    LeaveOut(index, e);
    return {};
  }
}

// Wraps around; returns the same index if it is the only file of its class that may replace it.
int64_t ImageFiles::NextOfClass(int64_t index) const {
  const int64_t begin = index, label = files_[index].label;
  do {
    index = (index + 1) % size();
  } while (index != begin && (files_[index].label != label || apart_.contains(index)));
  return index;
}

void ImageFiles::CheckIndex(int64_t index) const {
  Require(index >= 0 && index < size(), info_.name, "requires an example of 0 to {}, got {}",
          size() - 1, index);
}

Sample ImageFiles::WithClass(Tensor image, int64_t index) const {
  return {{std::move(image)}, FromVector<int64_t>({files_[index].label}, {})};
}

std::optional<Sample> ImageFiles::GetUnlessLeftOut(int64_t index) const {
  CheckIndex(index);
  Tensor image = Decode(index);
  if (!image.defined()) return std::nullopt;
  return WithClass(std::move(image), index);
}

Sample ImageFiles::Get(int64_t index) const {
  CheckIndex(index);
  int64_t at = index;
  Tensor image = Decode(at);
  while (!image.defined()) {
    at = NextOfClass(at);
    Require(at != index, info_.name, "requires an image of class {} that can be decoded, got none",
            info_.classes[files_[index].label]);
    image = Decode(at);
  }
  return WithClass(std::move(image), index);
}

namespace {

// Threads find them in any order.
std::vector<LeftOut> Sorted(std::vector<LeftOut> all) {
  std::ranges::sort(all, {}, &LeftOut::where);
  return all;
}

}  // namespace

std::vector<LeftOut> ImageFiles::left_out() const {
  const std::lock_guard lock(mutex_);
  std::vector<LeftOut> all;
  for (const auto& [index, reason] : bad_) all.push_back({path(index), reason});
  return Sorted(std::move(all));
}

std::vector<LeftOut> ImageFiles::passed_over() const {
  const std::lock_guard lock(mutex_);
  std::vector<LeftOut> all = passed_over_;
  for (const int64_t index : long_)
    all.push_back({path(index), "only the first of its frames or pages is used"});
  return Sorted(std::move(all));
}

}  // namespace torus::data
