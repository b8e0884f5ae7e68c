#include "data/datasets/image_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "data/images/image_size.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/one_commit.h"
#include "runtime/io/safetensors.h"

namespace torus::data {
namespace {

using Metadata = std::map<std::string, std::string>;

constexpr int64_t kFields = sizeof(CachedImage) / sizeof(int64_t);

// "cats/1.png" of a longer path, since other hosts may have the dataset's folder elsewhere.
std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos || slash == 0) return path;
  const size_t above = path.rfind('/', slash - 1);
  return above == path.npos ? path : path.substr(above + 1);
}

// What must be the same for a cache to be taken.
Metadata MetadataOf(const CacheSource& source) {
  std::string names;
  for (const std::string& path : source.paths) names.append(NameOf(path)).push_back('\n');
  return {{"form", "torus image cache 1"},
          {"side", fmt::format("{}", source.side)},
          {"names", fmt::format("{} {:08x}", source.paths.size(), Crc32c(names))}};
}

bool Agrees(const SafetensorsFile& file, const CacheSource& source) {
  for (const auto& [key, value] : MetadataOf(source)) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end() || found->second != value) return false;
  }
  return true;
}

bool Unchanged(const CacheIndex& index, const CacheSource& source) {
  for (size_t i = 0; i < index.images.size(); ++i) {
    const CachedImage now = StampOf(source.paths[i]), &had = index.images[i];
    if (now.file_bytes != had.file_bytes || now.file_time != had.file_time) return false;
  }
  return true;
}

CacheIndex IndexOf(const SafetensorsFile& file, const std::string& path, size_t images) try {
  const Shape shape{static_cast<int64_t>(images), kFields};
  Require(file.tensors.size() == 1 && file.tensors[0].value.shape() == shape &&
              file.tensors[0].value.dtype() == DType::kI64,
          path, "requires one tensor i64 {}, got another", shape);
  CacheIndex index{.images = std::vector<CachedImage>(images), .left_out = {}};
  const Tensor& fields = file.tensors[0].value;
  std::memcpy(index.images.data(), fields.raw(), fields.bytes());
  const nlohmann::json left_out = nlohmann::json::parse(file.metadata.at("left_out"));
  for (const auto& [image, reason] : left_out.items())
    index.left_out[std::stoll(image)] = reason.get<std::string>();
  return index;
} catch (const nlohmann::json::exception& e) {
  Throw<BadInput>(path, "requires a list of what is left out: {}", e.what());
} catch (const std::logic_error& e) {
  Throw<BadInput>(path, "requires a list of what is left out: {}", e.what());
}

// Each image lies within the pixels.
void CheckPlaces(const CacheIndex& index, const MappedFile& pixels) {
  const auto bytes = static_cast<int64_t>(pixels.bytes().size());
  int64_t end = 0;
  for (const CachedImage& image : index.images) {
    const bool sized = image.height >= 0 && image.height <= kMostPixels && image.width >= 0 &&
                       image.width <= kMostPixels;
    Require(sized && (image.height == 0 || image.offset == end), pixels.path(),
            "requires images behind each other, got one of {} x {} at byte {} after {}",
            image.height, image.width, image.offset, end);
    end += image.height * image.width * 3;
  }
  Require(bytes == end, pixels.path(),
          "requires {} bytes, got {}: remove the folder, and the cache is made anew", end, bytes);
}

}  // namespace

std::string CachePixels(const std::string& folder) { return folder + "/pixels"; }

std::string CacheIndexFile(const std::string& folder) { return folder + "/index.safetensors"; }

CachedImage StampOf(const std::string& path) {
  struct stat status = {};
  // Permission changes neither size nor time.
  if (::access(path.c_str(), R_OK) != 0 || ::stat(path.c_str(), &status) != 0)
    return {.file_bytes = -1, .file_time = -1};
  return {.file_bytes = status.st_size,
          .file_time = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

void WriteCacheIndex(const std::string& folder, const CacheSource& source,
                     const CacheIndex& index) {
  Tensor fields({static_cast<int64_t>(index.images.size()), kFields}, DType::kI64);
  std::memcpy(fields.mutable_raw(), index.images.data(), fields.bytes());
  nlohmann::json left_out = nlohmann::json::object();
  for (const auto& [image, reason] : index.left_out) left_out[fmt::format("{}", image)] = reason;
  Metadata metadata = MetadataOf(source);
  metadata["left_out"] = left_out.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  WriteSafetensors(CacheIndexFile(folder), {{"images", fields}}, metadata, {},
                   io::IfExists::kRefuse);
}

ImageCache::ImageCache(CacheIndex index, std::shared_ptr<const MappedFile> pixels)
    : index_(std::move(index)), pixels_(std::move(pixels)) {
  CheckPlaces(index_, *pixels_);
}

std::shared_ptr<const ImageCache> ImageCache::Open(const std::string& folder,
                                                   const CacheSource& source) {
  if (io::CommittedFolder(folder).empty()) return nullptr;
  return io::OpenOneCommit(
      folder, [&](const std::string& commit) -> std::shared_ptr<const ImageCache> {
        const std::string path = CacheIndexFile(commit);
        const SafetensorsFile file = ReadSafetensors(path);
        if (!Agrees(file, source)) return nullptr;
        CacheIndex index = IndexOf(file, path, source.paths.size());
        if (!Unchanged(index, source)) return nullptr;
        return std::shared_ptr<const ImageCache>(new ImageCache(
            std::move(index), std::make_shared<const MappedFile>(CachePixels(commit))));
      });
}

Tensor ImageCache::Image(int64_t index) const {
  const CachedImage& image = index_.images[index];
  if (image.height == 0) return {};
  const auto bytes =
      pixels_->bytes().subspan(image.offset, static_cast<size_t>(image.height * image.width * 3));
  if (Crc32c(std::as_bytes(bytes)) != image.checksum)
    Throw<BrokenEnvironment>(pixels_->path(),
                             "image {} at byte {} is not what was written: remove the folder, and "
                             "the cache is made anew",
                             index, image.offset);
  const Shape shape{image.height, image.width, 3};
  return {std::make_shared<Storage>(const_cast<uint8_t*>(bytes.data()), bytes.size(), Device{},
                                    pixels_),
          shape, ContiguousStrides(shape), 0, DType::kU8};
}

}  // namespace torus::data
