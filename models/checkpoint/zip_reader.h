// ZipReader: the members of a ZIP archive that are stored as they are (APPNOTE.TXT 6.3, compression
// method 0), as torch.save writes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torus {

class ZipReader {
 public:
  // `bytes`: the whole file, which must stay. BadInput tagged `where` for what is no such archive:
  // a directory or member that is not wholly within the file, compression, encryption, a name
  // twice, members that overlap, several disks. ZIP64's larger numbers are read.
  ZipReader(std::string_view bytes, std::string where);

  static bool IsZip(std::string_view bytes);

  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return members_.contains(name); }
  // BadInput when there is none of that name, or its bytes do not have their CRC-32.
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
