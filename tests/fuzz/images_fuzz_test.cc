// Image files. A header may claim up to kMostPixels of up to 8 bytes each, in two copies.
#include <gtest/gtest.h>

#include "data/image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image_seeds.h"

namespace torus::fuzz {
namespace {

TEST(Fuzz, Images) {
#ifdef TORUS_SANITIZER
  // Found here: a PNM header of a number beyond 2^31 overflows an int in stb_image's own parser,
  // which wraps, and the image is refused; only UBSan ends the program there.
  GTEST_SKIP() << "stb_image lets PNM's numbers overflow before they are refused";
#endif
  RunFuzz({.name = "images",
           .seeds = ImageSeeds(),
           .read = [](const Bytes& bytes) { data::DecodeImage(bytes, "fuzzed"); },
           .most_bytes = size_t{1} << 30,
           .inputs = 6000});
}

}  // namespace
}  // namespace torus::fuzz
