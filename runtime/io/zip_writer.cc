#include "runtime/io/zip_writer.h"

#include <zlib.h>

#include <vector>

#include "runtime/error.h"
#include "runtime/io/crc32.h"
#include "runtime/io/little_endian.h"

namespace torus::io {
namespace {

constexpr uint64_t kLimit = 0xffffffff;  // where ZIP64 would begin

// What one member's two headers have in common, from the version to the length of the name. The
// date is the earliest there is, so that equal input gives equal bytes.
std::string Description(bool deflated, uint32_t crc, uint64_t stored, uint64_t size,
                        uint64_t name) {
  constexpr uint64_t kVersion = 20, kFirstOfJanuary1980 = 0x21, kUtf8 = 1 << 11;
  return ToLittleEndian(kVersion, 2) + ToLittleEndian(kUtf8, 2) +
         ToLittleEndian(deflated ? 8 : 0, 2) + ToLittleEndian(0, 2) +
         ToLittleEndian(kFirstOfJanuary1980, 2) + ToLittleEndian(crc, 4) +
         ToLittleEndian(stored, 4) + ToLittleEndian(size, 4) + ToLittleEndian(name, 2) +
         ToLittleEndian(0, 2);
}

std::string Deflate(const std::array<std::string_view, 2>& parts) {
  z_stream stream{};
  TORUS_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                           Z_DEFAULT_STRATEGY) == Z_OK,
              "zlib did not start");
  std::string out;
  std::vector<Bytef> buffer(1 << 18);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const Bytef*>(parts[i].data());
    stream.next_in = const_cast<Bytef*>(bytes);  // zlib reads only
    stream.avail_in = static_cast<uInt>(parts[i].size());
    do {
      stream.next_out = buffer.data();
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, i + 1 == parts.size() ? Z_FINISH : Z_NO_FLUSH);
      out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace

void ZipWriter::Write(std::string_view bytes) {
  Require(written_ + bytes.size() < kLimit, where_,
          "would reach 4 GiB; safetensors files have no such limit");
  file_.Write(bytes);
  written_ += bytes.size();
}

void ZipWriter::Add(const std::string& name, const std::array<std::string_view, 2>& parts,
                    bool deflated) {
  const uint64_t size = parts[0].size() + parts[1].size();
  ++members_;
  Require(size < kLimit && members_ < 65535 && name.size() < 65536, where_,
          "member {:.100} has {} bytes; below 4 GiB, 65,535 members and names of 64 KiB are "
          "possible",
          name, size);
  const std::string packed = deflated ? Deflate(parts) : "";
  const std::string description = Description(deflated, Crc32(parts[1], Crc32(parts[0])),
                                              deflated ? packed.size() : size, size, name.size());
  // No comment, disk 0, no attributes.
  directory_ += ToLittleEndian(0x02014b50, 4) + ToLittleEndian(20, 2) + description +
                std::string(10, '\0') + ToLittleEndian(written_, 4) + name;
  Write(ToLittleEndian(0x04034b50, 4) + description + name);
  if (deflated) return Write(packed);
  for (std::string_view part : parts) Write(part);
}

void ZipWriter::Finish() {
  const uint64_t at = written_;
  Write(directory_);
  Write(ToLittleEndian(0x06054b50, 4) + ToLittleEndian(0, 4) + ToLittleEndian(members_, 2) +
        ToLittleEndian(members_, 2) + ToLittleEndian(directory_.size(), 4) + ToLittleEndian(at, 4) +
        ToLittleEndian(0, 2));
}

}  // namespace torus::io
