#include "data/datasets/make_image_cache.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "data/images/resize.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/file_lock.h"
#include "runtime/io/folder.h"
#include "runtime/io/folder_place.h"
#include "runtime/parallel_for.h"
#include "runtime/progress.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kSampled = 64;         // images whose sizes say how much room all need
constexpr int64_t kImagesOfAThread = 8;  // decoded before they are written

CacheSource SourceOf(const ImageFiles& files, int64_t side) {
  CacheSource source{.paths = {}, .side = side};
  for (int64_t i = 0; i < files.size(); ++i) source.paths.push_back(files.path(i));
  return source;
}

// An image as it goes into the cache, and its file's entry without offset.
struct Made {
  CachedImage entry;
  Tensor pixels;  // undefined: the file is left out
};

Made MakeOne(const ImageFiles& files, int64_t index, int64_t side) {
  Made made{.entry = StampOf(files.path(index)), .pixels = {}};
  const std::optional<Sample> sample = files.GetUnlessLeftOut(index);
  if (!sample) return made;
  made.pixels = Shrunk(sample->inputs[0], side);
  const auto* const begin = static_cast<const std::byte*>(made.pixels.raw());
  made.entry.height = made.pixels.dim(0);
  made.entry.width = made.pixels.dim(1);
  made.entry.checksum = Crc32c({begin, made.pixels.bytes()});
  made.entry.more_frames = files.HasPassedOverFrames(index) ? 1 : 0;
  return made;
}

std::vector<Made> MakeSome(const ImageFiles& files, int64_t begin, int64_t end, int64_t side) {
  std::vector<Made> made(end - begin);
  ParallelFor(end - begin, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) made[i] = MakeOne(files, begin + i, side);
  });
  return made;
}

// By evenly spaced images.
double ProbableBytes(const ImageFiles& files, int64_t side) {
  const int64_t sampled = std::min(kSampled, files.size());
  int64_t bytes = 0;
  for (int64_t i = 0; i < sampled; ++i) {
    const Made made = MakeOne(files, i * files.size() / sampled, side);
    bytes += made.entry.height * made.entry.width * 3;
  }
  return static_cast<double>(bytes) / static_cast<double>(sampled) *
         static_cast<double>(files.size());
}

void WriteCache(const ImageFiles& files, const std::string& folder, int64_t side) {
  CacheIndex index;
  io::OutputFile pixels(CachePixels(folder), io::IfExists::kRefuse);
  int64_t offset = 0;
  const int64_t step = kImagesOfAThread * TeamSize();
  for (int64_t begin = 0; begin < files.size(); begin += step) {
    for (Made& made : MakeSome(files, begin, std::min(begin + step, files.size()), side)) {
      made.entry.offset = offset;
      index.images.push_back(made.entry);
      if (!made.pixels.defined()) continue;
      pixels.Write(made.pixels.raw(), made.pixels.bytes());
      offset += static_cast<int64_t>(made.pixels.bytes());
    }
    TickProgress();
  }
  pixels.Close(true);
  for (int64_t i = 0; i < files.size(); ++i)
    if (const std::string reason = files.WhyLeftOut(i); !reason.empty()) index.left_out[i] = reason;
  WriteCacheIndex(folder, SourceOf(files, side), index);
}

// Bytes of the files that a writer of `folder` has written so far.
uint64_t BytesOfWriter(const std::string& folder) {
  std::error_code error;
  uint64_t bytes = 0;
  fs::recursive_directory_iterator at(io::PlaceOf(folder).work, error), end;
  for (; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (const uintmax_t size = at->file_size(gone); !gone) bytes += size;
  }
  return bytes;
}

// How long another process may still be waited for: until its files have not grown for some time.
class Patience {
 public:
  Patience(std::string folder, double seconds) : folder_(std::move(folder)), seconds_(seconds) {}
  bool Over() {
    const uint64_t bytes = BytesOfWriter(folder_);
    if (std::exchange(seen_, bytes) != bytes) since_ = Clock::now();
    return std::chrono::duration<double>(Clock::now() - since_).count() > seconds_;
  }

 private:
  const std::string folder_;
  const double seconds_;
  uint64_t seen_ = 0;
  Clock::time_point since_ = Clock::now();
};

// Null after a wait for another process, which has probably made the cache.
std::unique_ptr<io::FolderWriter> TryWriter(const std::string& folder, double timeout_seconds) {
  Patience patience(folder, timeout_seconds);
  for (bool waited = false;; waited = true) {
    try {
      auto writer = std::make_unique<io::FolderWriter>(folder);
      return waited ? nullptr : std::move(writer);
    } catch (const io::LockHeld&) {
      if (patience.Over()) throw;
    }
    TickProgress();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void CheckIsFolder(const std::string& path) {
  std::error_code error;
  Require(!fs::exists(path, error) || fs::is_directory(path, error), path,
          "requires a folder for the image cache, got a file");
}

}  // namespace

void RequireRoom(const std::string& folder, double bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) Throw<BrokenEnvironment>(folder, "cannot tell its room: {}", error.message());
  if (static_cast<double>(space.available) < bytes)
    Throw<BrokenEnvironment>(folder, "requires about {:.1f} GB for the image cache, but has {:.1f}",
                             bytes / 1e9, static_cast<double>(space.available) / 1e9);
}

Tensor Shrunk(const Tensor& image, int64_t side) {
  const int64_t height = image.dim(0), width = image.dim(1), shorter = std::min(height, width);
  if (shorter <= side) return image;
  return Resize(image, side * height / shorter, side * width / shorter);
}

MadeCache OpenOrMakeImageCache(const ImageFiles& files, const std::string& folder, int64_t side,
                               double timeout_seconds) {
  CheckIsFolder(folder);
  const CacheSource source = SourceOf(files, side);
  const Clock::time_point begin = Clock::now();
  for (;;) {
    if (auto cache = ImageCache::Open(folder, source)) return {.cache = std::move(cache)};
    const std::unique_ptr<io::FolderWriter> writer = TryWriter(folder, timeout_seconds);
    if (writer == nullptr) continue;
    // Another process may have made it since it was looked for.
    if (auto cache = ImageCache::Open(folder, source)) return {.cache = std::move(cache)};
    RequireRoom(writer->temporary(), ProbableBytes(files, side));
    WriteCache(files, writer->temporary(), side);
    writer->Commit();
    auto cache = ImageCache::Open(folder, source);
    Require(cache != nullptr, folder,
            "requires image files that do not change while they are read");
    return {.cache = std::move(cache),
            .made = true,
            .seconds = std::chrono::duration<double>(Clock::now() - begin).count()};
  }
}

}  // namespace torus::data
