#include "parallel/codec/frame.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "parallel/codec/codec_number.h"
#include "parallel/codec/make_codec.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr std::string_view kMagic = "TRCF";
constexpr size_t kMostName = 200;

class Writer {
 public:
  template <class T>
  void Put(T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void Put(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}

  std::span<const std::byte> Take(size_t count, const char* what) {
    Require(in_.size() - at_ >= count, "frame", "ends within its {}: {} bytes of {}", what,
            in_.size() - at_, count);
    at_ += count;
    return in_.subspan(at_ - count, count);
  }
  template <class T>
  T Get(const char* what) {
    T value;
    std::memcpy(&value, Take(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  std::string Text(size_t count, const char* what) {
    const auto bytes = Take(count, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  size_t at() const { return at_; }

 private:
  std::span<const std::byte> in_;
  size_t at_ = 0;
};

// Reads sizes; checks that the number of values stays far below 2^63, so byte counts do not
// overflow.
Shape ReadShape(Reader& reader) {
  const auto rank = reader.Get<uint8_t>("rank");
  Require(rank <= kMaxRank, "frame", "has at most {} dimensions, got {}", kMaxRank, rank);
  Shape shape;
  int64_t most = std::numeric_limits<int64_t>::max() / 64;
  for (int d = 0; d < rank; ++d) {
    const auto size = reader.Get<int64_t>("shape");
    Require(size >= 0 && size <= most, "frame", "size {} is beyond its bounds: {}", d, size);
    most /= std::max<int64_t>(size, 1);
    shape.push_back(size);
  }
  return shape;
}

uint32_t ChecksumOf(std::span<const std::byte> header, std::span<const std::byte> payload) {
  return Crc32c(payload, Crc32c(header));
}

}  // namespace

std::vector<std::byte> WriteFrame(Codec& codec, const Shape& shape, DType dtype,
                                  std::span<const float> values) {
  const std::string name = codec.name();
  Require(!codec.decodes_from_memory(), "frame",
          "must be decodable without earlier tensors, which {} needs", name);
  Require(static_cast<int64_t>(values.size()) == Numel(shape), "frame", "{} has {} values, got {}",
          shape, Numel(shape), values.size());
  TORUS_CHECK(!name.empty() && name.size() <= kMostName, "{} characters", name.size());
  std::vector<std::byte> payload(codec.MaxTensorBytes(shape));
  payload.resize(EncodeWithin(codec, {.shape = shape}, values, payload));
  if (payload.empty() && !values.empty()) return {};
  Writer writer;
  writer.Put(kMagic);
  writer.Put(kCodecVersion);
  writer.Put(static_cast<uint8_t>(dtype));
  writer.Put(static_cast<uint8_t>(shape.rank()));
  for (const int64_t size : shape) writer.Put(size);
  writer.Put(static_cast<uint8_t>(name.size()));
  writer.Put(std::string_view(name));
  writer.Put(static_cast<uint64_t>(payload.size()));
  writer.Put(ChecksumOf(writer.bytes(), payload));
  writer.bytes().insert(writer.bytes().end(), payload.begin(), payload.end());
  return std::move(writer.bytes());
}

Frame ReadFrame(std::span<const std::byte> in) {
  Reader reader(in);
  Frame frame;
  Require(reader.Text(kMagic.size(), "first bytes") == kMagic, "frame", "must begin with {}",
          kMagic);
  const auto version = reader.Get<uint16_t>("version");
  Require(version == kCodecVersion, "frame", "has version {}, this program reads version {}",
          version, kCodecVersion);
  const auto dtype = reader.Get<uint8_t>("type");
  frame.dtype = static_cast<DType>(dtype);
  Require(frame.dtype == DType::kF32 || IsLow(frame.dtype), "frame",
          "holds f32, bf16 or f16, got type {}", dtype);
  frame.shape = ReadShape(reader);
  const auto name = reader.Get<uint8_t>("codec");
  Require(name >= 1 && name <= kMostName, "frame", "names a codec in 1 to {} bytes, got {}",
          kMostName, name);
  frame.codec = reader.Text(name, "codec");
  const auto payload = reader.Get<uint64_t>("size");
  const std::span<const std::byte> header = in.first(reader.at());
  const auto checksum = reader.Get<uint32_t>("checksum");
  frame.payload = reader.Take(payload, "payload");
  const uint32_t found = ChecksumOf(header, frame.payload);
  Require(found == checksum, "frame", "has the checksum {:08x}, its bytes have {:08x}", checksum,
          found);
  frame.bytes = reader.at();
  return frame;
}

std::vector<std::byte> WithChecksum(std::vector<std::byte> frame) {
  constexpr size_t kRankAt = 7;
  if (frame.size() <= kRankAt) return frame;
  const size_t name = kRankAt + 1 + sizeof(int64_t) * std::to_integer<size_t>(frame[kRankAt]);
  if (frame.size() <= name) return frame;
  const size_t size = name + 1 + std::to_integer<size_t>(frame[name]);
  const size_t header = size + sizeof(uint64_t), payload = header + sizeof(uint32_t);
  if (frame.size() < payload) return frame;
  uint64_t bytes;
  std::memcpy(&bytes, frame.data() + size, sizeof(bytes));
  if (bytes > frame.size() - payload) return frame;
  const std::span<const std::byte> all = frame;
  const uint32_t sum = ChecksumOf(all.first(header), all.subspan(payload, bytes));
  std::memcpy(frame.data() + header, &sum, sizeof(sum));
  return frame;
}

std::vector<float> DecodeFrame(const Frame& frame, int64_t most) {
  const int64_t count = Numel(frame.shape);
  Require(count <= most, "frame", "takes up to {} values, got {} of {}", most, count, frame.shape);
  const auto codec = MakeCodec(frame.codec);
  Require(!codec->decodes_from_memory(), "frame",
          "must be decodable without earlier tensors, which {} needs", frame.codec);
  const size_t room = codec->MaxTensorBytes(frame.shape);
  Require(frame.payload.size() <= room, "frame", "{} writes at most {} bytes for {}, got {}",
          frame.codec, room, frame.shape, frame.payload.size());
  std::vector<float> values(static_cast<size_t>(count));
  codec->DecodeTensor({.shape = frame.shape}, frame.payload, values);
  return values;
}

}  // namespace torus::parallel
