#include "parallel/codec/grain.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "parallel/codec/codec_text.h"
#include "parallel/codec/float_scratch.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

constexpr int64_t kMostChunk = int64_t{1} << 30;

// Fewer parts are not worth waking a thread.
int64_t GrainOf(int64_t values) {
  return std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, values));
}

CodecContext ContextOf(const CodecContext& whole, int64_t part, int64_t values) {
  constexpr uint64_t kApart = 0x9e3779b97f4a7c15u;  // separates the random numbers of the parts
  CodecContext context = whole;
  context.shape = Shape{values};
  context.samples = {};
  context.stream += kApart * static_cast<uint64_t>(part + 1);
  return context;
}

constexpr int64_t kTile = 16;  // floats of a cache line

// The rows from `top` on of [rows, columns], up to kTile of them, to columns of [columns, rows].
void TransposeRows(const float* in, int64_t rows, int64_t columns, int64_t top, float* out) {
  const int64_t bottom = std::min(rows, top + kTile);
  for (int64_t left = 0; left < columns; left += kTile)
    for (int64_t c = left; c < std::min(columns, left + kTile); ++c)
      for (int64_t r = top; r < bottom; ++r) out[c * rows + r] = in[r * columns + c];
}

// [rows, columns] to [columns, rows].
void Transpose(const float* in, int64_t rows, int64_t columns, float* out) {
  ParallelFor((rows + kTile - 1) / kTile, GrainOf(kTile * columns),
              [=](int64_t begin, int64_t end) {
                for (int64_t tile = begin; tile < end; ++tile)
                  TransposeRows(in, rows, columns, tile * kTile, out);
              });
}

}  // namespace

// How a tensor is divided. Part i has the values from i * values on; those of channels, which lie
// apart in a tensor, lie together once it is transposed.
struct GrainCodec::Parts {
  int64_t count = 0, values = 0;  // number of parts, and of values in each but the last
  int64_t all = 0;                // values
  bool transposed = false;

  int64_t Size(int64_t part) const { return std::min(values, all - part * values); }
};

Grain Grain::Parse(const std::string& text) {
  if (text == "sample") return {Kind::kSample};
  if (text == "channel") return {Kind::kChannel};
  const CodecPart part = ParseCodec(text).parts.front();
  Require(part.name == "chunk", "codec", "takes /sample, /channel or /chunk:n, got '/{}'", text);
  part.AtMost(1);
  return {Kind::kChunk, part.Whole(0, "values in a chunk", 1, kMostChunk)};
}

GrainCodec::GrainCodec(std::unique_ptr<Codec> inner, Grain grain)
    : inner_(std::move(inner)), grain_(grain) {
  Require(!inner_->is_stateful(), "codec",
          "{} keeps state, so that '/' must be inside of it, as in ef(uniform:4/channel)",
          inner_->name());
}

std::string GrainCodec::name() const {
  constexpr const char* kKinds[] = {"sample", "channel", "chunk"};
  const char* const kind = kKinds[static_cast<int>(grain_.kind)];
  if (grain_.kind == Grain::Kind::kChunk)
    return fmt::format("{}/{}:{}", inner_->name(), kind, grain_.chunk);
  return fmt::format("{}/{}", inner_->name(), kind);
}

GrainCodec::Parts GrainCodec::PartsOf(const Shape& shape) const {
  Parts parts{.all = Numel(shape)};
  if (parts.all == 0) return parts;
  const int last = shape.rank() - 1;
  switch (grain_.kind) {
    case Grain::Kind::kSample:
      parts.count = last < 0 ? 1 : shape[0];
      break;
    case Grain::Kind::kChannel:
      parts.count = last < 1 ? 1 : shape[last];
      parts.transposed = parts.count > 1;
      break;
    case Grain::Kind::kChunk:
      parts.values = grain_.chunk;
      parts.count = (parts.all + parts.values - 1) / parts.values;
      return parts;
  }
  parts.values = parts.all / parts.count;
  return parts;
}

size_t GrainCodec::MaxTensorBytes(const Shape& shape) const {
  const Parts parts = PartsOf(shape);
  if (parts.count == 0) return 1;
  const auto bytes = [&](int64_t part) { return inner_->MaxEncodedBytes(parts.Size(part)); };
  const auto others = static_cast<size_t>(parts.count - 1);
  return 1 + sizeof(uint32_t) * (others + 1) + others * bytes(0) + bytes(parts.count - 1);
}

size_t GrainCodec::EncodeTensor(const CodecContext& context, std::span<const float> in,
                                std::span<std::byte> out) {
  const Parts parts = PartsOf(context.shape);
  const size_t most = MaxTensorBytes(context.shape);
  Require(out.size() >= most, name(), "{} values need {} bytes, got room for {}", in.size(), most,
          out.size());
  out[0] = std::byte{0};
  if (parts.count == 0) return 1;
  const size_t room = inner_->MaxEncodedBytes(parts.values), table = sizeof(uint32_t) * parts.count;
  std::byte* const first = out.data() + 1 + table;
  std::vector<uint32_t> bytes(static_cast<size_t>(parts.count));
  FloatScratch scratch(parts.transposed ? in.size() : 0);
  if (parts.transposed) {
    Transpose(in.data(), parts.values, parts.count, scratch.span().data());
    in = scratch.span();
  }
  std::atomic<bool> finite = true, full = true;
  ParallelFor(parts.count, GrainOf(parts.values), [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t size = parts.Size(part);
      const size_t most_here = inner_->MaxEncodedBytes(size);
      const std::span<std::byte> place(first + room * part, most_here);
      bytes[part] = static_cast<uint32_t>(inner_->EncodeTensor(
          ContextOf(context, part, size), in.subspan(part * parts.values, size), place));
      if (bytes[part] == 0) finite = false;
      if (bytes[part] != most_here) full = false;
    }
  });
  if (!finite) return 0;
  out[0] = std::byte{full ? uint8_t{0} : uint8_t{1}};
  std::byte* to = out.data() + 1;
  if (!full) {
    std::memcpy(to, bytes.data(), table);
    to += table;
  }
  for (int64_t part = 0; part < parts.count; to += bytes[part++])
    std::memmove(to, first + room * part, bytes[part]);
  return static_cast<size_t>(to - out.data());
}

void GrainCodec::DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                              std::span<float> out) {
  const Parts parts = PartsOf(context.shape);
  Require(!in.empty() && in[0] <= std::byte{1}, name(), "the first byte must be 0 or 1, got {}",
          in.empty() ? -1 : std::to_integer<int>(in[0]));
  const bool full = in[0] == std::byte{0};
  const size_t table = full ? 0 : sizeof(uint32_t) * static_cast<size_t>(parts.count);
  Require(in.size() >= 1 + table, name(), "needs the sizes of {} parts, got {} bytes", parts.count,
          in.size());
  std::vector<size_t> begins{1 + table};
  for (int64_t part = 0; part < parts.count; ++part) {
    const size_t most = inner_->MaxEncodedBytes(parts.Size(part));
    uint32_t bytes = static_cast<uint32_t>(most);
    if (!full) std::memcpy(&bytes, in.data() + 1 + sizeof(bytes) * part, sizeof(bytes));
    Require(bytes <= most, name(), "a part has at most {} bytes, got {}", most, bytes);
    begins.push_back(begins.back() + bytes);
  }
  Require(begins.back() == in.size(), name(), "its parts are {} bytes, got {}", begins.back(),
          in.size());
  FloatScratch scratch(parts.transposed ? out.size() : 0);
  const std::span<float> decoded = parts.transposed ? scratch.span() : out;
  ParallelFor(parts.count, GrainOf(parts.values), [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t size = parts.Size(part);
      inner_->DecodeTensor(ContextOf(context, part, size),
                           in.subspan(begins[part], begins[part + 1] - begins[part]),
                           decoded.subspan(part * parts.values, size));
    }
  });
  if (parts.transposed) Transpose(decoded.data(), parts.count, parts.values, out.data());
}

}  // namespace torus::parallel
