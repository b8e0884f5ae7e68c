#include "runtime/io/zip_reader.h"

#include <zlib.h>

#include <algorithm>

#include "runtime/error.h"
#include "runtime/io/crc32.h"
#include "runtime/io/json.h"
#include "runtime/io/little_endian.h"

namespace torus::io {
namespace {

constexpr uint64_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kEntrySize = 46,
                   kLocalSize = 30;
constexpr uint32_t kEndMark = 0x06054b50, kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50,
                   kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint64_t kMostMembers = 1 << 20;
// Deflate's best: 258 bytes from two bits.
constexpr uint64_t kMostExpansion = 1032;

// The `size` bytes that `deflated` stands for; fewer if it is damaged, and never more.
std::string Inflated(std::string_view deflated, uint64_t size) {
  z_stream stream{};
  TORUS_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib did not start");
  std::string out(size, '\0');
  auto* next = reinterpret_cast<const Bytef*>(deflated.data());
  stream.next_in = const_cast<Bytef*>(next);  // zlib reads only
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  const Bytef *const in_end = next + deflated.size(), *const out_end = stream.next_out + size;
  constexpr std::ptrdiff_t kPiece = 1 << 30;  // zlib counts in 32 bits
  int status = Z_OK;
  while (status == Z_OK) {
    stream.avail_in = static_cast<uInt>(std::min(in_end - stream.next_in, kPiece));
    stream.avail_out = static_cast<uInt>(std::min(out_end - stream.next_out, kPiece));
    status = inflate(&stream, Z_NO_FLUSH);
  }
  const std::ptrdiff_t left = out_end - stream.next_out;
  const bool whole = status == Z_STREAM_END && stream.next_in == in_end;
  inflateEnd(&stream);
  out.resize(whole ? size - static_cast<uint64_t>(left) : 0);
  return out;
}

}  // namespace

bool ZipReader::IsZip(std::string_view bytes) { return bytes.starts_with("PK\x03\x04"); }

uint64_t ZipReader::Number(uint64_t at, int count) const {
  return LittleEndian(Range(at, static_cast<uint64_t>(count), "a number"));
}

std::string_view ZipReader::Range(uint64_t at, uint64_t size, const char* what) const {
  Require(at <= bytes_.size() && size <= bytes_.size() - at, where_,
          "{} of {} bytes at {} lies beyond the file's {} bytes", what, size, at, bytes_.size());
  return bytes_.substr(at, size);
}

ZipReader::ZipReader(std::string_view bytes, std::string where, Deflated deflated)
    : bytes_(bytes), where_(std::move(where)), deflated_(deflated) {
  Require(bytes.size() >= kEndSize, where_, "is no ZIP archive: {} bytes", bytes.size());
  // A comment of up to 64 KiB may follow the end record.
  uint64_t end = bytes.size() - kEndSize;
  const uint64_t first = end > 65535 ? end - 65535 : 0;
  while (end > first && Number(end, 4) != kEndMark) --end;
  Require(Number(end, 4) == kEndMark, where_, "is no ZIP archive, or cut off: no end record");
  uint64_t count = Number(end + 10, 2), size = Number(end + 12, 4), at = Number(end + 16, 4);
  if (end >= kLocatorSize && Number(end - kLocatorSize, 4) == kLocatorMark) {
    const uint64_t wide = Number(end - kLocatorSize + 8, 8);
    Range(wide, kEnd64Size, "the ZIP64 end record");
    Require(Number(wide, 4) == kEnd64Mark, where_, "has no ZIP64 end record where it says");
    count = Number(wide + 32, 8), size = Number(wide + 40, 8), at = Number(wide + 48, 8);
  }
  Range(at, size, "the directory");
  ReadDirectory(at, count);
}

void ZipReader::ReadDirectory(uint64_t at, uint64_t count) {
  Require(count <= kMostMembers, where_, "has {} members; at most {} are read", count,
          kMostMembers);
  for (uint64_t i = 0; i < count; ++i) at = ReadEntry(at);
}

uint64_t ZipReader::ReadEntry(uint64_t at) {
  Range(at, kEntrySize, "a directory entry");
  Require(Number(at, 4) == kEntryMark, where_, "has no directory entry at {}", at);
  const uint64_t flags = Number(at + 8, 2), method = Number(at + 10, 2);
  uint64_t stored = Number(at + 20, 4), size = Number(at + 24, 4), local = Number(at + 42, 4);
  const uint64_t name_size = Number(at + 28, 2), extra = Number(at + 30, 2),
                 comment = Number(at + 32, 2);
  const std::string name(Range(at + kEntrySize, name_size, "a name"));
  uint64_t* numbers[3] = {&size, &stored, &local};
  ReadZip64(at + kEntrySize + name_size, extra, numbers);
  const bool deflated = method == 8 && deflated_ == Deflated::kRead;
  Require((deflated || (method == 0 && stored == size)) && (flags & 1) == 0, where_,
          "member {} is compressed or encrypted; only stored {}ones are read", Printable(name),
          deflated_ == Deflated::kRead ? "and deflated " : "");
  Require(size / kMostExpansion <= stored, where_,
          "member {} claims to have {} bytes, which {} bytes cannot stand for", Printable(name),
          size, stored);
  Range(local, kLocalSize, "a member's header");
  Require(Number(local, 4) == kLocalMark, where_, "member {} has no header at {}", Printable(name),
          local);
  const uint64_t begin = local + kLocalSize + Number(local + 26, 2) + Number(local + 28, 2);
  const Member member{.bytes = Range(begin, stored, "a member"),
                      .size = size,
                      .deflated = deflated,
                      .crc = static_cast<uint32_t>(Number(at + 16, 4))};
  Require(members_.emplace(name, member).second, where_, "has member {} twice", Printable(name));
  total_ += stored;
  Require(total_ <= bytes_.size(), where_, "has members that overlap");
  return at + kEntrySize + name_size + extra + comment;
}

// A number that does not fit into 32 bits is stored as all ones; the real ones are in an extra
// field in this order.
void ZipReader::ReadZip64(uint64_t at, uint64_t size, uint64_t* numbers[3]) const {
  Range(at, size, "an extra field");
  const uint64_t end = at + size;
  while (at + 4 <= end) {
    const uint64_t id = Number(at, 2), length = Number(at + 2, 2);
    at += 4;
    uint64_t field = at;
    for (int i = 0; i < 3 && id == 1; ++i) {
      if (*numbers[i] != 0xffffffff || field + 8 > std::min(end, at + length)) continue;
      *numbers[i] = Number(field, 8);
      field += 8;
    }
    at += length;
  }
}

std::vector<std::string> ZipReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

const ZipReader::Member& ZipReader::Find(const std::string& name) const {
  const auto found = members_.find(name);
  Require(found != members_.end(), where_, "has no member {}", Printable(name));
  return found->second;
}

void ZipReader::CheckCrc(const std::string& name, std::string_view bytes) const {
  Require(Crc32(bytes) == Find(name).crc, where_,
          "member {} does not have its CRC-32: the file is damaged", Printable(name));
}

std::string_view ZipReader::Get(const std::string& name) const {
  const Member& member = Find(name);
  TORUS_CHECK(!member.deflated, "{} is deflated", name);
  CheckCrc(name, member.bytes);
  return member.bytes;
}

std::string ZipReader::Read(const std::string& name) const {
  const Member& member = Find(name);
  if (!member.deflated) return std::string(Get(name));
  std::string bytes = Inflated(member.bytes, member.size);
  Require(bytes.size() == member.size, where_,
          "member {} does not inflate to its {} bytes: the file is damaged", Printable(name),
          member.size);
  CheckCrc(name, bytes);
  return bytes;
}

}  // namespace torus::io
