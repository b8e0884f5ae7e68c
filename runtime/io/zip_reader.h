// ZipReader: reads ZIP archives (APPNOTE.TXT 6.3) as torch.save and numpy.savez write them: members
// are stored, or deflated where that is allowed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torus::io {

// Whether deflated members are read or refused.
enum class Deflated { kRefuse, kRead };

class ZipReader {
 public:
  // `bytes` is the whole file and must outlive the reader. Throws BadInput tagged `where` for a
  // directory or member that is not wholly within the file, another compression, encryption, a
  // duplicate name, overlapping members, and several disks. ZIP64 is supported.
  ZipReader(std::string_view bytes, std::string where, Deflated deflated = Deflated::kRefuse);

  static bool IsZip(std::string_view bytes);

  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return members_.contains(name); }
  // Returns the bytes of a stored member. Throws BadInput if there is no such member or its CRC-32
  // is wrong.
  std::string_view Get(const std::string& name) const;
  // The same of any member, as a copy. Throws BadInput also for damaged compression.
  std::string Read(const std::string& name) const;

 private:
  struct Member {
    std::string_view bytes;  // as in the file
    uint64_t size = 0;       // inflated
    bool deflated = false;
    uint32_t crc = 0;
  };
  const Member& Find(const std::string& name) const;
  void CheckCrc(const std::string& name, std::string_view bytes) const;
  uint64_t Number(uint64_t at, int bytes) const;
  std::string_view Range(uint64_t at, uint64_t size, const char* what) const;
  void ReadDirectory(uint64_t at, uint64_t count);
  uint64_t ReadEntry(uint64_t at);
  void ReadZip64(uint64_t at, uint64_t size, uint64_t* numbers[3]) const;

  std::string_view bytes_;
  std::string where_;
  Deflated deflated_;
  std::map<std::string, Member> members_;
  uint64_t total_ = 0;  // bytes of all members
};

}  // namespace torus::io
