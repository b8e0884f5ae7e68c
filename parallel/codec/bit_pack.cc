#include "parallel/codec/bit_pack.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

static_assert(std::endian::native == std::endian::little, "streams are copied, not swapped");

uint8_t* Bytes(std::byte* p) { return reinterpret_cast<uint8_t*>(p); }
const uint8_t* Bytes(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }

void Pack4(const uint16_t* codes, int64_t count, uint8_t* out) {
  const int64_t pairs = count / 2;
  for (int64_t i = 0; i < pairs; ++i)
    out[i] = static_cast<uint8_t>(codes[2 * i] | (codes[2 * i + 1] << 4));
  if (count % 2 != 0) out[pairs] = static_cast<uint8_t>(codes[count - 1]);
}

void Unpack4(const uint8_t* in, int64_t count, uint16_t* codes) {
  const int64_t pairs = count / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    codes[2 * i] = in[i] & 15;
    codes[2 * i + 1] = in[i] >> 4;
  }
  if (count % 2 != 0) codes[count - 1] = in[pairs] & 15;
}

void Pack8(const uint16_t* codes, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(codes[i]);
}

void Unpack8(const uint8_t* in, int64_t count, uint16_t* codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = in[i];
}

// Four codes make 48 bits: one shift each, one store of six bytes.
void Pack12(const uint16_t* codes, int64_t count, uint8_t* out) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4, out += 6) {
    uint64_t four;
    std::memcpy(&four, codes + i, sizeof(four));
    const uint64_t pairs = (four & 0x00000fff00000fffu) | ((four >> 4) & 0x00fff00000fff000u);
    const uint64_t packed = (pairs & 0xffffffu) | ((pairs >> 32) << 24);
    std::memcpy(out, &packed, 6);
  }
  uint64_t rest = 0;
  for (int64_t j = i; j < count; ++j) rest |= uint64_t{codes[j]} << (12 * (j - i));
  std::memcpy(out, &rest, PackedBytes(count - i, 12));
}

void Unpack12(const uint8_t* in, int64_t count, uint16_t* codes) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4, in += 6) {
    uint32_t first;  // two loads: assembling the eight bytes in memory would stall on their reading
    uint16_t second;
    std::memcpy(&first, in, sizeof(first));
    std::memcpy(&second, in + sizeof(first), sizeof(second));
    const uint64_t packed = first | uint64_t{second} << 32;
    const uint64_t pairs = (packed & 0xffffffu) | ((packed >> 24) << 32);
    const uint64_t four = (pairs & 0x00000fff00000fffu) | ((pairs & 0x00fff00000fff000u) << 4);
    std::memcpy(codes + i, &four, sizeof(four));
  }
  uint64_t rest = 0;
  std::memcpy(&rest, in, PackedBytes(count - i, 12));
  for (int64_t j = i; j < count; ++j) codes[j] = (rest >> (12 * (j - i))) & 0xfff;
}

}  // namespace

size_t PackedBytes(int64_t count, int bits) {
  return (static_cast<size_t>(count) * static_cast<size_t>(bits) + 7) / 8;
}

void PackBits(const uint16_t* codes, int64_t count, int bits, std::byte* out) {
  switch (bits) {
    case 4:
      return Pack4(codes, count, Bytes(out));
    case 8:
      return Pack8(codes, count, Bytes(out));
    case 12:
      return Pack12(codes, count, Bytes(out));
    case 16:
      std::copy_n(reinterpret_cast<const std::byte*>(codes), PackedBytes(count, 16), out);
      return;
  }
  TORUS_CHECK(false, "{} bits", bits);
}

void UnpackBits(const std::byte* in, int64_t count, int bits, uint16_t* codes) {
  switch (bits) {
    case 4:
      return Unpack4(Bytes(in), count, codes);
    case 8:
      return Unpack8(Bytes(in), count, codes);
    case 12:
      return Unpack12(Bytes(in), count, codes);
    case 16:
      std::copy_n(in, PackedBytes(count, 16), reinterpret_cast<std::byte*>(codes));
      return;
  }
  TORUS_CHECK(false, "{} bits", bits);
}

}  // namespace torus::parallel
