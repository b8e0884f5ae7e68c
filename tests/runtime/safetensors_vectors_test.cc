// The reference implementation's vectors, from $TORUS_DATA/safetensors.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/io/safetensors.h"

namespace torus {
namespace {

std::string Folder() {
  const char* data = std::getenv("TORUS_DATA");
  const std::string folder = std::string(data == nullptr ? "" : data) + "/safetensors";
  return std::filesystem::exists(folder) ? folder : "";
}

// "" when read, else the error.
std::string Verdict(const std::string& path) {
  try {
    ReadSafetensors(path);
    return "";
  } catch (const BadInput& e) {
    return e.what();
  }
}

TEST(SafetensorsVectors, AcceptedAndRefusedAsExpected) {
  const std::string folder = Folder();
  if (folder.empty()) GTEST_SKIP() << "TORUS_DATA has no folder safetensors";
  std::ifstream table(folder + "/vectors/expected.tsv");
  std::string line, kind, name;
  std::getline(table, line);
  int valid = 0, invalid = 0;
  while (std::getline(table, line)) {
    std::istringstream(line) >> kind >> name;
    const std::string path = folder + "/vectors/" + kind + "/" + name + ".safetensors";
    const std::string verdict = Verdict(path);
    EXPECT_EQ(verdict.empty(), kind == "valid") << name << ": " << verdict;
    EXPECT_TRUE(verdict.empty() || verdict.starts_with("[" + path + "] ")) << verdict;
    ++(kind == "valid" ? valid : invalid);
  }
  EXPECT_GE(valid, 8);
  EXPECT_GE(invalid, 11);
}

TEST(SafetensorsVectors, ValuesOfTheValidOnes) {
  const std::string folder = Folder() + "/vectors/valid/";
  if (Folder().empty()) GTEST_SKIP() << "TORUS_DATA has no folder safetensors";
  const SafetensorsFile wide = ReadSafetensors(folder + "dtype_I64.safetensors");
  EXPECT_EQ(ToVector<int64_t>(wide.tensors.at(0).value),
            (std::vector<int64_t>{0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110}));
  EXPECT_EQ(ReadSafetensors(folder + "scalar_empty_shape.safetensors").tensors.at(0).value.Item(),
            1);
  EXPECT_EQ(ReadSafetensors(folder + "zero_sized.safetensors").tensors.at(0).value.shape(),
            (Shape{2, 0}));
}

// One sample a dtype: read where Torus has the dtype, else refused by the dtype's name.
TEST(SafetensorsVectors, HistoricSamples) {
  if (Folder().empty()) GTEST_SKIP() << "TORUS_DATA has no folder safetensors";
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Folder() + "/samples_hf_history")) {
    const std::string verdict = Verdict(entry.path());
    EXPECT_TRUE(verdict.empty() || verdict.find("is none of F64 F32") != std::string::npos)
        << verdict;
    seen += verdict.empty();
  }
  EXPECT_GE(seen, 4);
}

}  // namespace
}  // namespace torus
