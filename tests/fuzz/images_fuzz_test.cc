// Image files, whose header may claim up to kMostPixels of up to 8 bytes each, in two copies; and
// lists of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/datasets/image_folder.h"
#include "data/images/decode.h"
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

// A list of Food-101 becomes one of the folder's files; its images are there.
void FuzzFood101(const std::string& name, const std::string& list, const Bytes& seed) {
  const std::filesystem::path dir = ::testing::TempDir() + "/food101";
  const auto write = [&](const std::string& path, const Bytes& bytes) {
    std::filesystem::create_directories((dir / path).parent_path());
    std::ofstream(dir / path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  write("meta/classes.txt", BytesOf("apple_pie\nbibimbap\n"));
  write("meta/train.txt", BytesOf("apple_pie/1\nbibimbap/2\nbibimbap/30\n"));
  for (const char* image : {"apple_pie/1", "bibimbap/2", "bibimbap/30"})
    write(fmt::format("images/{}.jpg", image), ImageSeeds().front());
  RunFuzz({.name = name, .seeds = {seed, FileBytes(dir / list)}, .read = [&](const Bytes& bytes) {
             write(list, bytes);
             data::OpenFood101(dir, data::Split::kTrain);
           }});
}

TEST(Fuzz, Food101) {
  FuzzFood101("Food-101's classes", "meta/classes.txt", BytesOf("bibimbap\nsushi\napple_pie\n"));
  FuzzFood101("Food-101's list", "meta/train.txt", BytesOf("bibimbap/2\napple_pie/1\n"));
}

}  // namespace
}  // namespace torus::fuzz
