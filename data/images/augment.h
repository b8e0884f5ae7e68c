// Random augmentation of training images, by name.
//
// Every draw comes from the random stream of (seed, epoch, example). So an image is changed in the
// same way for any number of workers, ranks and micro-batches, and differently in each epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::data {

// u8 image (H, W, C) of any size in, (height, width, C) out. Thread-safe.
using Augment = std::function<Tensor(const Tensor& image, const RandomStream& random)>;

// The stream that an example's augmentation draws from.
RandomStream AugmentStream(uint64_t seed, int64_t epoch, int64_t example);

// The names that MakeAugment knows, as `--augment` takes them.
std::vector<std::string> AugmentNames();
// The same names, each with a description of a few words.
std::vector<std::pair<std::string, std::string>> AugmentDescriptions();

//   none               resized to height x width where it has another size
//   flip               as `none`, then mirrored with probability 1/2
//   crop-flip          as `none`, then moved by up to height / 8 and width / 8 pixels with black
//                      coming in (4 at 32 x 32, usual for CIFAR-10), then mirrored as above
//   resized-crop-flip  RandomResizedCrop, resized to height x width, mirrored as above
// Throws BadInput listing the names for any other name, and for a size below 1.
Augment MakeAugment(const std::string& name, int64_t height, int64_t width);

// A window: corner and size.
struct Window {
  int64_t top = 0, left = 0, height = 0, width = 0;  // in pixels
  friend bool operator==(const Window&, const Window&) = default;
};

// The window of Szegedy et al., "Going deeper with convolutions" (2015), section 6: its area is
// uniform in 8 to 100 % of the image, its aspect ratio log-uniform in 3/4 to 4/3, its place
// uniform. If ten draws do not fit, it is the largest centred window of an allowed ratio. Like
// torchvision's RandomResizedCrop.
Window RandomResizedCrop(int64_t height, int64_t width, const RandomStream& random);

}  // namespace torus::data
