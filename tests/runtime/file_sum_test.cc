#include "runtime/io/file_sum.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/io/safetensors.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

class FileSums : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Put("config.json", "{\"a\": 1}");
    WriteSafetensors(folder_ + "/model.safetensors", {{"w", Arange(1000)}, {"b", Arange(3)}});
    WriteFolderSums(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  std::string Refusal() const {
    try {
      CheckFolderSums(folder_);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::string folder_ = testing::TempDir() + "file_sum_test";
};

TEST_F(FileSums, AcceptWhatIsAsItWasAndOtherFilesBesideIt) {
  EXPECT_EQ(Refusal(), "accepted");
  Put("notes.txt", "the user's own");
  EXPECT_EQ(Refusal(), "accepted");
}

// The header's checksums tell that of the whole file.
TEST_F(FileSums, OfWeightsAreThoseOfAllBytes) {
  const std::string bytes = InputFile(folder_ + "/model.safetensors").ReadAll();
  const FileSum sum = SumOf(InputFile(folder_ + "/model.safetensors"));
  EXPECT_EQ(sum.bytes, bytes.size());
  EXPECT_EQ(sum.crc32c, Crc32c(bytes));
}

TEST_F(FileSums, NameTheDamagedFileWhatWasExpectedAndWhatCame) {
  Put("config.json", "{\"a\": 2}");
  EXPECT_EQ(Refusal(),
            fmt::format("[{}/config.json] is damaged: it must have the checksum (CRC-32C) {:08x} "
                        "of torus_checksums.json (remove that file if you changed the folder on "
                        "purpose), got {:08x}",
                        folder_, Crc32c("{\"a\": 1}"), Crc32c("{\"a\": 2}")));
  Put("config.json", "{}");
  EXPECT_NE(Refusal().find("must have the 8 bytes of torus_checksums.json"), std::string::npos)
      << Refusal();
  fs::remove(folder_ + "/config.json");
  EXPECT_NE(Refusal().find("config.json] cannot open"), std::string::npos) << Refusal();
}

// Another model's weights, whole in themselves, and those that another program wrote.
TEST_F(FileSums, RefuseOtherWeightsOfTheSameSize) {
  WriteSafetensors(folder_ + "/model.safetensors",
                   {{"w", Arange(1000)}, {"b", Full({3}, 7, Arange(3).dtype())}});
  EXPECT_NE(Refusal().find("model.safetensors] is damaged"), std::string::npos) << Refusal();
}

TEST_F(FileSums, AreNotDemandedOfOtherProgramsFolders) {
  fs::remove(folder_ + "/" + kFolderSums);
  Put("config.json", "{}");
  EXPECT_EQ(Refusal(), "accepted");
}

TEST_F(FileSums, RefuseAListThatIsNone) {
  for (const char* list :
       {"{", "[]", "{}", R"({"files": {"config.json": 3}})",
        R"({"files": {"config.json": {"bytes": -1, "crc32c": "00000000"}}})",
        R"({"files": {"config.json": {"bytes": 8, "crc32c": "0000000x"}}})",
        R"({"files": {"config.json": {"bytes": 8, "crc32c": 7}}})",
        R"({"files": {"../config.json": {"bytes": 8, "crc32c": "00000000"}}})"}) {
    Put(kFolderSums, list);
    EXPECT_NE(Refusal().find(kFolderSums), std::string::npos) << list << ": " << Refusal();
  }
}

}  // namespace
}  // namespace torus::io
