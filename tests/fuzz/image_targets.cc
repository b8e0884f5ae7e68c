#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/datasets/image_folder.h"
#include "data/images/decode.h"
#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

void Write(const std::filesystem::path& path, const Bytes& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// A list of Food-101 becomes one of the folder's files; its images are there.
Target Food101(const std::string& name, const std::string& list, const Bytes& seed) {
  const std::filesystem::path dir = ::testing::TempDir() + "/food101 " + name;
  Write(dir / "meta/classes.txt", BytesOf("apple_pie\nbibimbap\n"));
  Write(dir / "meta/train.txt", BytesOf("apple_pie/1\nbibimbap/2\nbibimbap/30\n"));
  for (const char* image : {"apple_pie/1", "bibimbap/2", "bibimbap/30"})
    Write(dir / fmt::format("images/{}.jpg", image), ImageSeeds().front());
  return {.name = name,
          .seeds = {seed, FileBytes(dir / list)},
          .read = [dir, list](const Bytes& bytes) {
            Write(dir / list, bytes);
            data::OpenFood101(dir, data::Split::kTrain);
          }};
}

}  // namespace

std::vector<Target> ImageTargets() {
  return {
      {.name = "images",
       .seeds = ImageSeeds(),
       .read = [](const Bytes& bytes) { data::DecodeImage(bytes, "fuzzed"); },
       .most_bytes = size_t{1} << 30,
       .inputs = 6000},
      Food101("Food-101's classes", "meta/classes.txt", BytesOf("bibimbap\nsushi\napple_pie\n")),
      Food101("Food-101's list", "meta/train.txt", BytesOf("bibimbap/2\napple_pie/1\n"))};
}

}  // namespace torus::fuzz
