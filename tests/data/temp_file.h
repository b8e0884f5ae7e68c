// Files that a test writes, and the message of an error that it expects.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::data {

using Bytes = std::vector<uint8_t>;

// A fresh, empty folder of the running test.
inline std::string TestFolder() {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / test->test_suite_name() / test->name();
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

// Writes `bytes` to folder/name and returns that path.
inline std::string WriteFile(const std::string& folder, const std::string& name,
                             const Bytes& bytes) {
  const std::string path = folder + "/" + name;
  io::OutputFile file(path);
  file.Write(bytes.data(), bytes.size());
  file.Close(false);
  return path;
}

inline std::string WriteText(const std::string& folder, const std::string& name,
                             const std::string& text) {
  return WriteFile(folder, name, Bytes(text.begin(), text.end()));
}

inline Bytes Gzip(const Bytes& bytes) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes out(deflateBound(&z, bytes.size()) + 64);
  z.next_in = const_cast<uint8_t*>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// The message of the `Kind` that `f` throws; empty, and a failure, when it throws none.
template <class Kind, class F>
std::string MessageOf(const F& f) {
  try {
    f();
  } catch (const Kind& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << "one line: " << what;
    return what;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// Expects BadInput in one line that names `path` and holds `words`.
template <class F>
void ExpectBadInput(const F& f, const std::string& path, const std::string& words) {
  const std::string what = MessageOf<BadInput>(f);
  EXPECT_NE(what.find(path), std::string::npos) << what;
  EXPECT_NE(what.find(words), std::string::npos) << what << "\nlacks: " << words;
}

}  // namespace torus::data
