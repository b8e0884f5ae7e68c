// Image files, whose header may claim up to kMostPixels of up to 8 bytes each, in two copies; and
// lists of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/image.h"
#include "data/image_folder.h"
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

// A list of Food-101 becomes one of the folder's files.
void FuzzFood101(const std::string& name, const std::string& file, const std::string& seed) {
  const std::string dir = ::testing::TempDir() + "/food101";
  std::filesystem::create_directories(dir + "/meta");
  const auto write = [&](const std::string& path, const Bytes& bytes) {
    std::ofstream(dir + "/meta/" + path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  write("classes.txt", BytesOf("apple_pie\nbibimbap\n"));
  write("train.txt", BytesOf("apple_pie/1\nbibimbap/2\n"));
  RunFuzz({.name = name, .seeds = {BytesOf(seed), BytesOf(seed)}, .read = [&](const Bytes& bytes) {
             write(file, bytes);
             data::OpenFood101(dir, data::Split::kTrain);
           }});
}

TEST(Fuzz, Food101) {
  FuzzFood101("Food-101's classes", "classes.txt", "apple_pie\nbibimbap\nsushi\n");
  FuzzFood101("Food-101's list", "train.txt", "apple_pie/1005649\nbibimbap/23\nbibimbap/7\n");
}

}  // namespace
}  // namespace torus::fuzz
