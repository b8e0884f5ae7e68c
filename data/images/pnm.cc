#include "data/images/pnm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "data/images/byte_reader.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

bool IsSpace(uint8_t byte) {
  return std::string_view(" \t\n\v\f\r").find(static_cast<char>(byte)) != std::string_view::npos;
}

// The next number as text, after white space and comments; what follows it is read too, unless the
// file ends. Numbers beyond 2^31 become 2^31.
uint64_t NextNumber(ByteReader& reader, const std::string& name) {
  uint8_t byte = reader.Byte();
  while (byte == '#' || IsSpace(byte)) {
    if (byte == '#') {
      while (byte != '\n' && byte != '\r') byte = reader.Byte();
    }
    byte = reader.Byte();
  }
  Require(byte >= '0' && byte <= '9', name, "requires a number at byte {}", reader.at() - 1);
  uint64_t value = 0;
  while (byte >= '0' && byte <= '9') {
    value = std::min<uint64_t>(10 * value + (byte - '0'), uint64_t{1} << 31);
    if (reader.left() == 0) break;
    byte = reader.Byte();
  }
  return value;
}

struct Header {
  bool text = false;
  uint64_t channels = 3, width = 0, height = 0, largest = 0;
  uint64_t values() const { return channels * width * height; }
};

Header ReadHeader(ByteReader& reader, const std::string& name) {
  const uint8_t magic = reader.Take(2)[1];
  Header header{.text = magic < '5', .channels = magic == '3' || magic == '6' ? 3u : 1u};
  for (uint64_t* number : {&header.width, &header.height, &header.largest}) {
    *number = NextNumber(reader, name);
    Require(*number > 0, name, "requires a PNM header of three positive numbers");
  }
  CheckSize({static_cast<int64_t>(header.height), static_cast<int64_t>(header.width)}, name);
  Require(header.largest <= 65535, name, "requires PNM of values up to 65535, got {}",
          header.largest);
  // As text a value has a digit at least, and a space in front of it but for the first.
  const uint64_t bytes =
      header.text ? 2 * header.values() - 1 : header.values() * (header.largest > 255 ? 2 : 1);
  Require(bytes <= reader.left(), name,
          "requires a whole image, got {} bytes for {} x {} pixels of {} channels", reader.left(),
          header.height, header.width, header.channels);
  return header;
}

// Reads the values one by one, in the range of a byte.
class Values {
 public:
  Values(ByteReader& reader, const Header& header, const std::string& name)
      : reader_(reader), header_(header), name_(name), scaled_(header.largest + 1) {
    for (uint64_t v = 0; v <= header.largest; ++v)
      scaled_[v] = static_cast<uint8_t>(
          std::nearbyint(static_cast<double>(v) / static_cast<double>(header.largest) * 255));
  }
  uint8_t Next() {
    const uint64_t value = header_.text ? NextNumber(reader_, name_)
                                        : reader_.BigEndian(header_.largest > 255 ? 2 : 1);
    Require(!header_.text || value <= header_.largest, name_, "requires values up to {}, got {}",
            header_.largest, value);
    return scaled_[std::min(value, header_.largest)];
  }

 private:
  ByteReader& reader_;
  const Header& header_;
  const std::string& name_;
  std::vector<uint8_t> scaled_;
};

}  // namespace

bool IsPnm(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 'P' &&
         std::string_view("2356").find(static_cast<char>(bytes[1])) != std::string_view::npos;
}

ImageSize PnmSize(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  const Header header = ReadHeader(reader, name);
  return {static_cast<int64_t>(header.height), static_cast<int64_t>(header.width)};
}

Tensor DecodePnm(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  const Header header = ReadHeader(reader, name);
  Tensor image({static_cast<int64_t>(header.height), static_cast<int64_t>(header.width), 3},
               DType::kU8);
  uint8_t* out = image.mutable_data<uint8_t>();
  if (header.channels == 3 && header.largest == 255 && !header.text) {
    std::memcpy(out, reader.Take(image.bytes()).data(), image.bytes());
    return image;
  }
  Values values(reader, header, name);
  for (uint64_t i = 0; i < header.values(); ++i) {
    const size_t copies = 3 / header.channels;
    std::memset(out, values.Next(), copies);
    out += copies;
  }
  return image;
}

}  // namespace torus::data
