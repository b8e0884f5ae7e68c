#include "data/images/jpeg_segments.h"

#include <cstring>
#include <utility>

#include "data/images/byte_reader.h"

namespace torus::data {
namespace {

using Bytes = std::span<const uint8_t>;

enum Marker : uint8_t {
  kTem = 0x01,
  kSof0 = 0xc0,
  kSof1 = 0xc1,
  kRst0 = 0xd0,
  kRst7 = 0xd7,
  kSoi = 0xd8,
  kEoi = 0xd9,
  kSos = 0xda,
};

bool IsRestart(uint8_t marker) { return marker >= kRst0 && marker <= kRst7; }

class Walk {
 public:
  Walk(Bytes bytes, const std::string& name) : bytes_(bytes), name_(name), reader_(bytes, name) {}

  std::vector<uint8_t> Run() {
    Require(bytes_.size() >= 2 && bytes_[0] == 0xff && bytes_[1] == kSoi, name_,
            "requires a JPEG that begins with FF D8");
    reader_.Take(2);
    out_.reserve(bytes_.size() + 2);
    Put({{0xff, kSoi}});
    while (!ended_) Step(NextMarker());
    Put({{0xff, kEoi}});
    return std::move(out_);
  }

 private:
  void Put(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

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
    // T.81, B.2.2: precision, height, width, then the number of components.
    if ((marker == kSof0 || marker == kSof1) && segment.size() > 5) components_ = segment[5];
    Put({{0xff, marker, static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)}});
    Put(segment);
    if (marker == kSos) ReadScan(!segment.empty() && segment[0] > 0 && segment[0] == components_);
  }

  // Coded data, in which FF is followed by 00 or a restart marker.
  void ReadScan(bool is_whole_image) {
    ++scans_;
    const size_t begin = reader_.at();
    size_t end = begin;
    while ((end = NextFf(end)) < bytes_.size() && !IsMarker(end)) ++end;
    // A last FF is the first half of a marker.
    while (end > begin && bytes_[end - 1] == 0xff) --end;
    Put(reader_.Take(end - begin));
    ended_ = is_whole_image;
  }

  // The place of the first FF at `at` or behind it, or the end.
  size_t NextFf(size_t at) const {
    const void* const found = std::memchr(bytes_.data() + at, 0xff, bytes_.size() - at);
    return found == nullptr ? bytes_.size() : static_cast<const uint8_t*>(found) - bytes_.data();
  }

  bool IsMarker(size_t at) const {
    if (at + 1 == bytes_.size()) return false;
    const uint8_t next = bytes_[at + 1];
    return next != 0 && next != 0xff && !IsRestart(next);
  }

  Bytes bytes_;
  const std::string& name_;
  ByteReader reader_;
  std::vector<uint8_t> out_;
  int components_ = 0;  // for a sequential image; 0 for a progressive one, which has several scans
  int scans_ = 0;
  bool ended_ = false;
};

}  // namespace

std::vector<uint8_t> ReadJpegSegments(Bytes bytes, const std::string& name) {
  return Walk(bytes, name).Run();
}

}  // namespace torus::data
