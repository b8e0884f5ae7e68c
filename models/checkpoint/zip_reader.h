// ZipReader: reads uncompressed ZIP archives (APPNOTE.TXT 6.3, compression method 0), as torch.save
// writes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torus {

class ZipReader {
 public:
  // `bytes` is the whole file and must outlive the reader. Throws BadInput tagged `where` for a
  // directory or member that is not wholly within the file, compression, encryption, a duplicate
  // name, overlapping members, and several disks. ZIP64 is supported.
  ZipReader(std::string_view bytes, std::string where);

  static bool IsZip(std::string_view bytes);

  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return members_.contains(name); }
  // Returns the bytes of a member. Throws BadInput if there is no such member or its CRC-32 is
  // wrong.
  std::string_view Get(const std::string& name) const;

 private:
  struct Member {
    std::string_view bytes;
    uint32_t crc = 0;
  };
  uint64_t Number(uint64_t at, int bytes) const;
  std::string_view Range(uint64_t at, uint64_t size, const char* what) const;
  void ReadDirectory(uint64_t at, uint64_t count);
  uint64_t ReadEntry(uint64_t at);
  void ReadZip64(uint64_t at, uint64_t size, uint64_t* numbers[3]) const;

  std::string_view bytes_;
  std::string where_;
  std::map<std::string, Member> members_;
  uint64_t total_ = 0;  // bytes of all members
};

}  // namespace torus
