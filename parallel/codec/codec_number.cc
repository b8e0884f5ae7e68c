#include "parallel/codec/codec_number.h"

#include <algorithm>
#include <span>
#include <string>

#include "runtime/crc32c.h"

namespace torus::parallel {

uint32_t CodecNumber(const Codec& codec) {
  const std::string name = codec.name();
  const uint16_t version[] = {kCodecVersion};
  return std::max(
      1u, Crc32c(std::as_bytes(std::span(name)), Crc32c(std::as_bytes(std::span(version)))));
}

}  // namespace torus::parallel
