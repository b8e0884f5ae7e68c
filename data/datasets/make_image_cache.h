// Makes image caches.
#pragma once

#include <memory>
#include <string>

#include "data/datasets/image_cache.h"
#include "data/datasets/image_files.h"

namespace torus::data {

struct MadeCache {
  std::shared_ptr<const ImageCache> cache;
  bool made = false;   // by this call; false: it was there, or another process has made it
  double seconds = 0;  // that making it took
};

// Opens the cache of `files` in `folder` (ImageCache::Open). If there is none, or the files have
// changed since, makes it: decodes each file with the calling thread's team, and shrinks the image
// with Resize so that its shorter side is `side` (the longer one is rounded down, as torchvision's
// Resize does). Smaller images stay as they are. Files that cannot be decoded are left out.
//
// If another process is making it, waits for that one: as long as its file grows, and then up to
// `timeout_seconds` more. Ticks the thread's progress meanwhile.
//
// Throws BadInput for a damaged cache, and, naming the other process, if the wait is over; throws
// BrokenEnvironment if the disk has less room than the images probably need (by a sample of them),
// or cannot be written.
MadeCache OpenOrMakeImageCache(const ImageFiles& files, const std::string& folder, int64_t side,
                               double timeout_seconds);

// Throws BrokenEnvironment unless the disk of `folder` has room for so many bytes.
void RequireRoom(const std::string& folder, double bytes);

// The image with its shorter side `side`, or unchanged if that is not longer.
Tensor Shrunk(const Tensor& image, int64_t side);

}  // namespace torus::data
