#include "parallel/data_parallel/coded_sum.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "parallel/codec/codec_number.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

// Before each part of a message. Sent as raw bytes.
struct PartHeader {
  uint64_t bytes = 0;     // that follow; the space for the largest encoding may be larger
  uint32_t codec = 0;     // CodecNumber
  uint32_t checksum = 0;  // CRC-32C of the two fields above and of the bytes written
};

uint32_t ChecksumOf(const PartHeader& header, const std::byte* payload) {
  const auto fields = std::as_bytes(std::span(&header, 1));
  return Crc32c({payload, header.bytes}, Crc32c(fields.first(offsetof(PartHeader, checksum))));
}

size_t RoomFor(const Codec& codec, const Shape& shape) {
  return sizeof(PartHeader) + codec.MaxTensorBytes(shape);
}

std::vector<Shape> ShapesOf(const std::vector<CodedPart>& parts) {
  std::vector<Shape> shapes;
  for (const CodedPart& part : parts) shapes.push_back(part.shape);
  return shapes;
}

void AddTo(std::span<float> sum, std::span<const float> term) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

// Every message has the same length: that of the largest encoding.
class CodedSum : public PendingCollective {
 public:
  CodedSum(Communicator& replicas, Codec& codec, std::vector<CodedPart> parts,
           std::span<float> rest, const CodecContext& context, std::string what, int lane)
      : codec_(codec),
        codec_number_(CodecNumber(codec)),
        parts_(std::move(parts)),
        rest_(rest),
        context_(context),
        what_(std::move(what)),
        rank_(replicas.rank()),
        replicas_(replicas.size()),
        bytes_(CodedSumBytes(codec, ShapesOf(parts_), rest.size())),
        messages_(bytes_ * static_cast<size_t>(replicas_), Device{}) {
    std::memset(MessageOf(rank_), 0, bytes_);
    Encode();
    std::vector<Buffer> messages;
    for (int r = 0; r < replicas_; ++r) messages.push_back({MessageOf(r), bytes_});
    gathered_ = replicas.StartAllGather(messages, what_, lane);
  }

  bool Advance() override {
    if (done_) return true;
    if (!gathered_->Advance()) return false;
    Finish();
    return true;
  }

  void Finish() override {
    if (std::exchange(done_, true)) return;
    gathered_->Finish();
    Sum();
  }

 private:
  std::byte* MessageOf(int replica) const {
    return static_cast<std::byte*>(messages_.data()) + bytes_ * static_cast<size_t>(replica);
  }

  CodecContext ContextOf(size_t part) const {
    return parallel::ContextOf(context_, parts_[part], part);
  }

  void Encode() {
    std::byte* at = MessageOf(rank_);
    for (size_t p = 0; p < parts_.size(); ++p) {
      const size_t room = RoomFor(codec_, parts_[p].shape);
      const std::span<std::byte> out(at + sizeof(PartHeader), room - sizeof(PartHeader));
      PartHeader header{.codec = codec_number_};
      header.bytes = EncodeWithin(codec_, ContextOf(p), parts_[p].values, out);
      header.checksum = ChecksumOf(header, out.data());
      std::memcpy(at, &header, sizeof(header));
      at += room;
    }
    std::ranges::copy(std::as_bytes(rest_), at);  // may be empty
  }

  // Reads the header of a part of a replica's `message`.
  PartHeader HeaderOf(const std::byte* message, size_t part, int replica) const {
    PartHeader header;
    std::memcpy(&header, message, sizeof(header));
    const size_t room = RoomFor(codec_, parts_[part].shape) - sizeof(header);
    Require(header.bytes <= room, what_, "part {} of replica {} has at most {} bytes, got {}", part,
            replica, room, header.bytes);
    const uint32_t found = ChecksumOf(header, message + sizeof(header));
    Require(header.checksum == found, what_,
            "part {} of replica {} was sent with the checksum {:08x}, what came has {:08x}", part,
            replica, header.checksum, found);
    Require(header.codec == codec_number_, what_,
            "this replica decodes codec number {:08x} ({}), replica {} encoded by {:08x}",
            codec_number_, codec_.name(), replica, header.codec);
    return header;
  }

  void Decode(const std::byte* message, size_t part, int replica, std::span<float> out) const {
    const uint64_t bytes = HeaderOf(message, part, replica).bytes;
    if (bytes == 0 && !out.empty())
      std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
    else
      codec_.DecodeTensor(ContextOf(part), {message + sizeof(PartHeader), bytes}, out);
  }

  void Sum() {
    size_t at = 0;
    for (size_t p = 0; p < parts_.size(); at += RoomFor(codec_, parts_[p].shape), ++p) {
      std::vector<float> term(parts_[p].values.size());
      for (int r = 0; r < replicas_; ++r) {
        Decode(MessageOf(r) + at, p, r, r == 0 ? parts_[p].values : std::span(term));
        if (r > 0) AddTo(parts_[p].values, term);
      }
    }
    std::vector<float> term(rest_.size());
    std::ranges::fill(rest_, 0.0f);
    for (int r = 0; r < replicas_; ++r) {
      std::copy_n(MessageOf(r) + at, rest_.size_bytes(),
                  std::as_writable_bytes(std::span(term)).begin());
      AddTo(rest_, term);
    }
  }

  Codec& codec_;
  const uint32_t codec_number_;
  const std::vector<CodedPart> parts_;
  const std::span<float> rest_;
  const CodecContext context_;
  const std::string what_;
  const int rank_, replicas_;
  const size_t bytes_;
  Storage messages_;  // of each replica
  std::unique_ptr<PendingCollective> gathered_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<PendingCollective> StartCodedSum(Communicator& replicas, Codec& codec,
                                                 std::vector<CodedPart> parts,
                                                 std::span<float> rest, const CodecContext& context,
                                                 std::string what, int lane) {
  return std::make_unique<CodedSum>(replicas, codec, std::move(parts), rest, context,
                                    std::move(what), lane);
}

uint64_t CodedSumBytes(const Codec& codec, const std::vector<Shape>& parts, size_t rest) {
  size_t bytes = rest * sizeof(float);
  for (const Shape& part : parts) bytes += RoomFor(codec, part);
  return bytes;
}

}  // namespace torus::parallel
