// ZipWriter: writes ZIP archives (APPNOTE.TXT 6.3) without ZIP64, member by member.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/io/file.h"

namespace torus::io {

class ZipWriter {
 public:
  // Writes to the file, which must outlive it; errors are tagged `where`.
  ZipWriter(OutputFile& file, std::string where) : file_(file), where_(std::move(where)) {}

  // Adds a member, stored or deflated, of two parts, which follow each other. Throws BadInput if it
  // or the archive reaches 4 GiB, if there are 65,535 members, and for a name of 64 KiB.
  void Add(const std::string& name, const std::array<std::string_view, 2>& parts, bool deflated);
  // Writes the directory, after which nothing may be added.
  void Finish();

 private:
  void Write(std::string_view bytes);

  OutputFile& file_;
  std::string where_;
  std::string directory_;
  uint64_t written_ = 0;
  uint64_t members_ = 0;
};

}  // namespace torus::io
