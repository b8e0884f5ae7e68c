// Image files. A header may claim up to kMostPixels of up to 8 bytes each, in two copies.
#include <gtest/gtest.h>

#include "data/image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image_seeds.h"

namespace torus::fuzz {
namespace {

TEST(Fuzz, Images) {
  RunFuzz({.name = "images",
           .seeds = ImageSeeds(),
           .read = [](const Bytes& bytes) { data::DecodeImage(bytes, "fuzzed"); },
           .most_bytes = size_t{1} << 30,
           .inputs = 6000});
}

}  // namespace
}  // namespace torus::fuzz
