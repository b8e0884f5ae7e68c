#include "data/images/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "runtime/error.h"

namespace torus::data {
namespace {

using Bytes = std::span<const uint8_t>;

bool Holds(Bytes bytes, size_t at, std::string_view text) {
  return bytes.size() >= at + text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin() + static_cast<int64_t>(at),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

WebPBitstreamFeatures Features(Bytes bytes, const std::string& name) {
  WebPBitstreamFeatures features{};
  Require(WebPGetFeatures(bytes.data(), bytes.size(), &features) == VP8_STATUS_OK, name,
          "requires a WebP image, got {} bytes with a damaged header", bytes.size());
  return features;
}

// Decodes `bytes`, an image of this size, with its corner at (top, left) of `image`.
void DecodeInto(Bytes bytes, ImageSize size, int64_t top, int64_t left, Tensor& image,
                const std::string& name) {
  const WebPBitstreamFeatures features = Features(bytes, name);
  Require(features.height == size.height && features.width == size.width &&
              top + size.height <= image.dim(0) && left + size.width <= image.dim(1),
          name, "requires a WebP image of {} x {} within {} x {}", size.height, size.width,
          image.dim(0), image.dim(1));
  const int64_t stride = image.dim(1) * 3, begin = top * stride + left * 3;
  const uint8_t* const decoded =
      WebPDecodeRGBInto(bytes.data(), bytes.size(), image.mutable_data<uint8_t>() + begin,
                        static_cast<size_t>(image.numel() - begin), static_cast<int>(stride));
  Require(decoded != nullptr, name, "requires a whole image, got a damaged WebP of {} bytes",
          bytes.size());
}

struct FreeDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

struct FirstFrame : WebPIterator {
  explicit FirstFrame(const WebPDemuxer* demuxer) : WebPIterator{} {
    found = demuxer != nullptr && WebPDemuxGetFrame(demuxer, 1, this) != 0;
  }
  ~FirstFrame() { WebPDemuxReleaseIterator(this); }
  FirstFrame(const FirstFrame&) = delete;
  FirstFrame& operator=(const FirstFrame&) = delete;
  bool found = false;
};

void DecodeFirstFrame(Bytes bytes, Tensor& image, const std::string& name) {
  const WebPData data{bytes.data(), bytes.size()};
  WebPDemuxState state{};
  // A file that is cut off may still have its first frame.
  const std::unique_ptr<WebPDemuxer, FreeDemuxer> demuxer(WebPDemuxPartial(&data, &state));
  const FirstFrame frame(demuxer.get());
  Require(frame.found && frame.complete != 0, name,
          "requires the first frame of its WebP animation, got {} bytes without it", bytes.size());
  DecodeInto({frame.fragment.bytes, frame.fragment.size}, {frame.height, frame.width},
             frame.y_offset, frame.x_offset, image, name);
}

}  // namespace

bool IsWebp(Bytes bytes) { return Holds(bytes, 0, "RIFF") && Holds(bytes, 8, "WEBP"); }

// The container's specification: a chunk VP8X, whose first byte has the flag of an animation.
bool IsAnimatedWebp(Bytes bytes) {
  return IsWebp(bytes) && Holds(bytes, 12, "VP8X") && bytes.size() > 20 && (bytes[20] & 2) != 0;
}

ImageSize WebpSize(Bytes bytes, const std::string& name) {
  const WebPBitstreamFeatures features = Features(bytes, name);
  return CheckSize({features.height, features.width}, name);
}

Tensor DecodeWebp(Bytes bytes, const std::string& name) {
  const ImageSize size = WebpSize(bytes, name);
  const bool animated = Features(bytes, name).has_animation != 0;
  const Shape shape{size.height, size.width, 3};
  Tensor image = animated ? Zeros(shape, DType::kU8) : Empty(shape, DType::kU8);
  if (animated)
    DecodeFirstFrame(bytes, image, name);
  else
    DecodeInto(bytes, size, 0, 0, image, name);
  return image;
}

}  // namespace torus::data
