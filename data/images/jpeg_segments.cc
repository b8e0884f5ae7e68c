#include "data/images/jpeg_segments.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "data/images/byte_reader.h"

namespace torus::data {
namespace {

using Bytes = std::span<const uint8_t>;

enum Marker : uint8_t {
  kTem = 0x01,
  kSof0 = 0xc0,
  kSof1 = 0xc1,
  kSof2 = 0xc2,
  kDht = 0xc4,
  kRst0 = 0xd0,
  kRst7 = 0xd7,
  kSoi = 0xd8,
  kEoi = 0xd9,
  kSos = 0xda,
  kApp14 = 0xee,
};

bool IsRestart(uint8_t marker) { return marker >= kRst0 && marker <= kRst7; }

// A DHT segment consists of tables of 16 counts and as many codes as they say, and must be filled
// by them. stb_image notices an error only after it has overrun its own memory.
void CheckHuffmanTables(Bytes tables, const std::string& name) {
  while (!tables.empty()) {
    const auto counts = tables.subspan(1, std::min<size_t>(16, tables.size() - 1));
    const size_t codes = std::accumulate(counts.begin(), counts.end(), size_t{0});
    Require(codes <= 256, name, "requires Huffman tables of at most 256 codes, got {}", codes);
    Require(17 + codes <= tables.size(), name,
            "requires Huffman tables within their segment, got one of {} bytes in {}", 17 + codes,
            tables.size());
    tables = tables.subspan(17 + codes);
  }
}

// Adobe's segment: its name, a version, two words of flags, and the transform of the colours
// (Adobe technical note 5116).
bool IsAdobe(Bytes segment) {
  constexpr std::string_view kName = "Adobe";
  return segment.size() >= 12 && std::equal(kName.begin(), kName.end(), segment.begin());
}

class Walk {
 public:
  Walk(Bytes bytes, const std::string& name) : bytes_(bytes), name_(name), reader_(bytes, name) {}

  JpegSegments Run() {
    Require(bytes_.size() >= 2 && bytes_[0] == 0xff && bytes_[1] == kSoi, name_,
            "requires a JPEG that begins with FF D8");
    reader_.Take(2);
    out_.bytes.reserve(bytes_.size() + 2);
    Put({{0xff, kSoi}});
    while (!ended_) Step(NextMarker());
    Put({{0xff, kEoi}});
    return std::move(out_);
  }

 private:
  void Put(Bytes bytes) { out_.bytes.insert(out_.bytes.end(), bytes.begin(), bytes.end()); }

  // Any number of FF may stand before a marker.
  uint8_t NextMarker() {
    const size_t at = reader_.at();
    uint8_t marker = reader_.Byte();
    const bool begins = marker == 0xff;
    while (marker == 0xff) marker = reader_.Byte();
    Require(begins && marker != 0, name_, "requires a JPEG marker at byte {}", at);
    return marker;
  }

  void Step(uint8_t marker) {
    if (marker == kTem || IsRestart(marker)) return;  // without content
    Require(marker != kSoi, name_, "requires one JPEG image, got a second beginning at byte {}",
            reader_.at());
    if (marker == kEoi) {
      Require(scans_ > 0, name_, "requires a JPEG with pixels, got its end at byte {}",
              reader_.at());
      ended_ = true;
    } else {
      ReadSegment(marker);
    }
  }

  void ReadSegment(uint8_t marker) {
    const size_t length = reader_.BigEndian(2);
    Require(length >= 2, name_, "requires JPEG segments of at least 2 bytes, got {}", length);
    const Bytes segment = reader_.Take(length - 2);
    if (marker == kDht) CheckHuffmanTables(segment, name_);
    // T.81, B.2.2: precision, height, width, then the number of components.
    if (marker >= kSof0 && marker <= kSof2 && segment.size() > 5) {
      components_of_frame_ = segment[5];
      if (marker != kSof2) components_ = segment[5];
    }
    if (marker == kSos && components_of_frame_ == 4) PutColours();
    Put({{0xff, marker, static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)}});
    Put(segment);
    if (marker == kApp14 && IsAdobe(segment)) transform_ = segment[11];
    if (marker == kSos) ReadScan(!segment.empty() && segment[0] > 0 && segment[0] == components_);
  }

  // Four components are CMYK without Adobe's marker or with its transform 0, and YCCK with any
  // other; inverted, as Adobe's programs write both. stb_image takes them for YCbCr and something
  // else unless the transform is 0 or 2.
  void PutColours() {
    const uint8_t transform = transform_.value_or(0) == 0 ? 0 : 2;
    Put({{0xff, kApp14, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, transform}});
  }

  // Coded data, in which FF is followed by 00 or a restart marker.
  void ReadScan(bool is_whole_image) {
    ++scans_;
    const size_t begin = reader_.at();
    size_t end = begin;
    while (end < bytes_.size() && !IsMarker(end)) ++end;
    out_.open_end = end == bytes_.size() || bytes_[end + 1] != kEoi;
    // A last FF is the first half of a marker.
    while (end > begin && bytes_[end - 1] == 0xff) --end;
    Put(reader_.Take(end - begin));
    ended_ = is_whole_image;
  }

  bool IsMarker(size_t at) const {
    if (bytes_[at] != 0xff || at + 1 == bytes_.size()) return false;
    const uint8_t next = bytes_[at + 1];
    return next != 0 && next != 0xff && !IsRestart(next);
  }

  Bytes bytes_;
  const std::string& name_;
  ByteReader reader_;
  JpegSegments out_;
  int components_of_frame_ = 0;
  std::optional<uint8_t> transform_;  // of Adobe's marker
  int components_ = 0;  // for a sequential image; 0 for a progressive one, which has several scans
  int scans_ = 0;
  bool ended_ = false;
};

}  // namespace

JpegSegments ReadJpegSegments(Bytes bytes, const std::string& name) {
  return Walk(bytes, name).Run();
}

std::vector<uint8_t> ContinueScan(const JpegSegments& jpeg) {
  std::vector<uint8_t> bytes(jpeg.bytes.begin(), jpeg.bytes.end() - 2);
  bytes.insert(bytes.end(), 64, 0xfe);
  bytes.insert(bytes.end(), {0xff, kEoi});
  return bytes;
}

}  // namespace torus::data
