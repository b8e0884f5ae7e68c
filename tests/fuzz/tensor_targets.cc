#include <gtest/gtest.h>

#include "data/datasets/cifar10.h"
#include "data/datasets/cifar100.h"
#include "data/datasets/idx.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"
#include "tests/data/temp_file.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/without_sums.h"

namespace torus::fuzz {
namespace {

Target Safetensors() {
  const std::string path = ::testing::TempDir() + "/seed.safetensors";
  WriteSafetensors(path,
                   {{"weight", Arange(6, DType::kF32).View({2, 3})},
                    {"mask", Full({3}, 1, DType::kBool)},
                    {"empty", Zeros({0, 4}, DType::kI64)},
                    {"scalar", Full({}, 2, DType::kF64)}},
                   {{"format", "pt"}});
  const Bytes one = FileBytes(path);
  WriteSafetensors(path, {{"a", Arange(3)}});
  return {.name = "safetensors",
          .seeds = {WithoutSums(one), WithoutSums(FileBytes(path)), one},
          .read = [](const Bytes& bytes) { ReadSafetensors(InFile(bytes)); },
          .inputs = 700};
}

Target Npy() {
  const std::string path = ::testing::TempDir() + "/seed.npy";
  WriteNpy(path, Arange(6, DType::kF32).View({2, 3}));
  const Bytes matrix = FileBytes(path);
  WriteNpy(path, Full({3}, 1, DType::kBool));
  return {.name = "npy",
          .seeds = {matrix, FileBytes(path)},
          .read = [](const Bytes& bytes) { ReadNpy(InFile(bytes)); },
          .inputs = 700};
}

Target Npz() {
  const std::string path = ::testing::TempDir() + "/seed.npz";
  const std::vector<NamedTensor> tensors{{"a", Arange(40)}, {"b", Zeros({0, 2})}};
  WriteNpz(path, tensors);
  const Bytes stored = FileBytes(path);
  WriteNpz(path, tensors, true);
  return {.name = "npz",
          .seeds = {stored, FileBytes(path)},
          .read = [](const Bytes& bytes) { ReadNpz(InFile(bytes)); },
          .inputs = 700};
}

Bytes IdxFile() {
  Bytes file{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
  for (uint8_t i = 0; i < 24; ++i) file.push_back(i);
  return file;
}

Target Idx() {
  return {.name = "idx",
          .seeds = {IdxFile(), data::Gzip(IdxFile())},
          .read = [](const Bytes& bytes) { data::ReadIdx(InFile(bytes), 3); },
          .inputs = 700};
}

// Almost any byte is a pixel: what can be wrong is the length and the labels.
Target Cifar() {
  return {.name = "cifar",
          .seeds = {Bytes(2 * 3073, 7), Bytes(2 * 3073, 3)},
          .read =
              [](const Bytes& bytes) {
                Tensor images({2, 32, 32, 3}, DType::kU8), labels({2}, DType::kI64);
                data::ReadCifarFile(InFile(bytes), 2, 0, images, labels);
              },
          .inputs = 500};
}

Target Cifar100() {
  return {.name = "cifar100",
          .seeds = {Bytes(2 * 3074, 7), Bytes(2 * 3074, 3)},
          .read =
              [](const Bytes& bytes) {
                Tensor images({2, 32, 32, 3}, DType::kU8), labels({2}, DType::kI64);
                data::ReadCifarRecords(InFile(bytes), data::kCifar100, 2, 0, images, labels);
              },
          .inputs = 500};
}

Target ClassNames() {
  return {.name = "class names",
          .seeds = {BytesOf("apple\naquarium_fish\nbaby\n"), BytesOf("bear\n\nbed\nbee")},
          .read = [](const Bytes& bytes) { data::ReadClassNames(InFile(bytes), 3); }};
}

}  // namespace

std::vector<Target> TensorTargets() {
  return {Safetensors(), Npy(), Npz(), Idx(), Cifar(), Cifar100(), ClassNames()};
}

}  // namespace torus::fuzz
