// TensorBoard's files against bytes written out by hand from its formats.
#include "recipes/run/event_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace torus::recipes {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string WriteAndRead() {
  const std::string folder = ::testing::TempDir() + "/events";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  EventFile file(folder, 2, 6);
  const Scalar scalars[] = {{"a", 1}, {"b", -0.5}};
  file.Add(2, 300, scalars);
  std::ifstream in(folder + "/events.out.tfevents.0000000002.000000000006", std::ios::binary);
  return (std::stringstream() << in.rdbuf()).str();
}

TEST(EventFile, HasTheBytesOfTheFormat) {
  const std::string bytes = WriteAndRead();
  // Length and its masked checksum; wall time 2, step 0, file version; masked checksum.
  const std::string version =
      "1a00000000000000129bd82d"
      "090000000000000040"
      "1000"
      "1a0d627261696e2e4576656e743a32"
      "893e666d";
  // Step 7, session log with status START.
  const std::string start =
      "0f00000000000000"
      "6d532b09"
      "090000000000000040"
      "1007"
      "3a020801"
      "d1715dcb";
  // Step 300, and of each scalar the tag and a float.
  const std::string scalars =
      "2200000000000000"
      "78113dfd"
      "090000000000000040"
      "10ac02"
      "2a14"
      "0a080a0161150000803f"
      "0a080a016215000000bf"
      "4ec46fae";
  EXPECT_EQ(bytes, FromHex(version + start + scalars));
}

}  // namespace
}  // namespace torus::recipes
