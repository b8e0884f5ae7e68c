#include "data/files/file.h"

#include <zlib.h>

#include <algorithm>

#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::data {
namespace {

// Ends the stream on every way out.
struct Inflater {
  z_stream stream{};
  Inflater() {
    // 16 requests gzip's header and trailer, and no other format.
    TORUS_CHECK(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK, "zlib did not start");
  }
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

std::vector<uint8_t> ReadFile(const std::string& path) {
  const io::InputFile file(path);
  std::vector<uint8_t> bytes(file.size());
  file.ReadAt(0, bytes.data(), bytes.size());
  return bytes;
}

bool IsGzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<uint8_t> Gunzip(std::span<const uint8_t> bytes, const std::string& path, size_t most) {
  Require(IsGzip(bytes), path, "requires gzip (1f 8b ...), got {} bytes of something else",
          bytes.size());
  Require(bytes.size() <= size_t{1} << 31, path, "requires at most 2 GiB of gzip, got {} bytes",
          bytes.size());
  Inflater inflater;
  z_stream& z = inflater.stream;
  z.next_in = const_cast<Bytef*>(bytes.data());  // zlib reads only
  z.avail_in = static_cast<uInt>(bytes.size());
  // One more than allowed, to tell "exactly that many" from "more".
  std::vector<uint8_t> out(std::min(most + 1, 4 * bytes.size() + 1024));
  size_t size = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    if (size == out.size()) out.resize(std::min(most + 1, 2 * out.size()));
    const size_t room = std::min(out.size() - size, size_t{1} << 30);
    z.next_out = out.data() + size;
    z.avail_out = static_cast<uInt>(room);
    status = inflate(&z, Z_NO_FLUSH);
    size += room - z.avail_out;
    Require(size <= most, path, "requires gzip of at most {} bytes, got more", most);
  }
  Require(status == Z_STREAM_END, path, "requires a whole gzip stream, got {} after {} bytes",
          status == Z_BUF_ERROR ? "an early end" : (z.msg != nullptr ? z.msg : "damage"), size);
  Require(z.avail_in == 0, path, "requires nothing after the gzip stream, got {} surplus bytes",
          z.avail_in);
  out.resize(size);
  return out;
}

std::vector<uint8_t> ReadFileMaybeGzip(const std::string& path) {
  std::vector<uint8_t> bytes = ReadFile(path);
  return IsGzip(bytes) ? Gunzip(bytes, path) : bytes;
}

}  // namespace torus::data
