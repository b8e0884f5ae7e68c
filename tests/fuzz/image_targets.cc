#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "data/datasets/image_folder.h"
#include "data/images/decode.h"
#include "runtime/io/safetensors.h"
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

// Those of tests/golden/make_image_files.py whose names begin with `format`.
std::vector<Bytes> FilesOf(const std::string& format) {
  static const SafetensorsFile files = ReadSafetensors("tests/golden/image_files.safetensors");
  std::vector<Bytes> all;
  for (const NamedTensor& file : files.tensors)
    if (file.name.starts_with(format) && !file.name.ends_with(".rgb"))
      all.push_back(ToVector<uint8_t>(file.value));
  return all;
}

Target Images(const std::string& name, const std::vector<Bytes>& seeds, int64_t inputs) {
  return {.name = name,
          .seeds = seeds,
          .read =
              [](const Bytes& bytes) {
                data::DecodeImage(bytes, "fuzzed");
                data::HasMoreFrames(bytes, "fuzzed");
              },
          .most_bytes = size_t{1} << 30,
          .inputs = inputs};
}

// The input is the only image of its class, and is read for training and for a test.
Target ImageFolder() {
  const std::filesystem::path dir = ::testing::TempDir() + "/image folder";
  Write(dir / "train/a/1.pgm", BytesOf("P5 2 1 255\nab"));
  std::vector<Bytes> seeds = ImageSeeds();
  for (const char* format : {"webp.", "tiff.", "gif."})
    for (Bytes& seed : FilesOf(format)) seeds.push_back(std::move(seed));
  return {.name = "image folders",
          .seeds = seeds,
          .read =
              [dir](const Bytes& bytes) {
                Write(dir / "train/b/2.jpg", bytes);
                const auto set = data::OpenImageFolder(dir, data::Split::kTrain);
                set->GetUnlessLeftOut(1);
                set->Get(1);
              },
          .most_bytes = size_t{1} << 30};
}

}  // namespace

std::vector<Target> ImageTargets() {
  std::vector<Bytes> seeds = ImageSeeds();
  for (const char* format : {"jpeg.", "png.without1", "gif.", "pnm."})
    for (Bytes& seed : FilesOf(format)) seeds.push_back(std::move(seed));
  return {
      Images("images", seeds, 6000),
      Images("WebP", FilesOf("webp."), 4000),
      Images("TIFF", FilesOf("tiff."), 4000),
      ImageFolder(),
      Food101("Food-101's classes", "meta/classes.txt", BytesOf("bibimbap\nsushi\napple_pie\n")),
      Food101("Food-101's list", "meta/train.txt", BytesOf("bibimbap/2\napple_pie/1\n"))};
}

}  // namespace torus::fuzz
