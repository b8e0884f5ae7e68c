#include "runtime/io/stored_type.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::io {
namespace {

// The first eight are the tensors' own, in the order of DType.
constexpr std::array<StoredType, 15> kTypes{{{"F64", 8, DType::kF64, true},
                                             {"F32", 4, DType::kF32, true},
                                             {"BF16", 2, DType::kBF16, true},
                                             {"F16", 2, DType::kF16, true},
                                             {"I64", 8, DType::kI64, true},
                                             {"I32", 4, DType::kI32, true},
                                             {"U8", 1, DType::kU8, true},
                                             {"BOOL", 1, DType::kBool, true},
                                             {"F8_E4M3", 1, DType::kF16},
                                             {"F8_E5M2", 1, DType::kF16},
                                             {"I8", 1, DType::kI32},
                                             {"I16", 2, DType::kI32},
                                             {"U16", 2, DType::kI32},
                                             {"U32", 4, DType::kI64},
                                             {"U64", 8, DType::kI64}}};

// The value of an 8-bit float with a sign, 4 bits of exponent (bias 7) and 3 of mantissa. It has no
// infinities, and NaN only where all bits but the sign are set (Micikevicius et al. 2022, FP8
// Formats for Deep Learning, table 1).
Float16 FromE4M3(uint8_t code) {
  const int exponent = (code >> 3) & 15, mantissa = code & 7;
  Float16 value(exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                              : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10));
  if ((code & 0x7f) == 0x7f) value.bits = 0x7e00;
  value.bits = static_cast<uint16_t>(value.bits | (code & 0x80) << 8);
  return value;
}

// A binary16 without its last 8 bits.
Float16 FromE5M2(uint8_t code) {
  Float16 value;
  value.bits = static_cast<uint16_t>(code << 8);
  return value;
}

uint8_t ToE5M2(Float16 value) { return static_cast<uint8_t>(value.bits >> 8); }

uint8_t ToE4M3(Float16 value) {
  static const std::map<uint16_t, uint8_t> codes = [] {
    std::map<uint16_t, uint8_t> all;
    for (int code = 0; code < 256; ++code)
      all[FromE4M3(static_cast<uint8_t>(code)).bits] = static_cast<uint8_t>(code);
    return all;
  }();
  const auto found = codes.find(value.bits);
  TORUS_CHECK(found != codes.end(), "{} is no F8_E4M3", static_cast<float>(value));
  return found->second;
}

// `From` is in memory at any address.
template <class From, class To, class Convert>
void ConvertAll(const void* from, void* to, int64_t count, const Convert& convert) {
  const auto *in = static_cast<const char*>(from), *const end = in + count * sizeof(From);
  auto* out = static_cast<char*>(to);
  for (; in != end; in += sizeof(From), out += sizeof(To)) {
    From value;
    std::memcpy(&value, in, sizeof(From));
    const To converted = convert(value);
    std::memcpy(out, &converted, sizeof(To));
  }
}

template <class Narrow, class Wide>
void Widen(const void* bytes, Tensor& values) {
  ConvertAll<Narrow, Wide>(bytes, values.mutable_raw(), values.numel(),
                           [](Narrow value) { return static_cast<Wide>(value); });
}

template <class Narrow, class Wide>
void Narrowed(const Tensor& values, void* bytes) {
  ConvertAll<Wide, Narrow>(values.raw(), bytes, values.numel(),
                           [](Wide value) { return static_cast<Narrow>(value); });
}

int64_t FromU64(uint64_t value, const std::string& where, const std::string& name) {
  Require(value <= uint64_t{std::numeric_limits<int64_t>::max()}, where,
          "tensor {}: a U64 is {}; values are read up to 2^63 - 1", Printable(name), value);
  return static_cast<int64_t>(value);
}

// Any other byte would be undefined behaviour in a C++ bool.
void CheckBools(const void* bytes, int64_t count, const std::string& where,
                const std::string& name) {
  const auto* const first = static_cast<const uint8_t*>(bytes);
  Require(std::all_of(first, first + count, [](uint8_t byte) { return byte <= 1; }), where,
          "tensor {}: a BOOL is neither 0 nor 1", Printable(name));
}

}  // namespace

const StoredType* StoredTypeNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &StoredType::name);
  return found == kTypes.end() ? nullptr : found;
}

const StoredType& StoredTypeOf(DType dtype) {
  const StoredType& type = kTypes.at(static_cast<size_t>(dtype));
  TORUS_CHECK(type.held == dtype && type.plain, "{} is not in its place", type.name);
  return type;
}

const std::string& StoredTypeNames() {
  static const std::string names = [] {
    std::string all;
    for (const StoredType& type : kTypes) all.append(all.empty() ? "" : " ").append(type.name);
    return all;
  }();
  return names;
}

void FromStored(const StoredType& type, const void* bytes, Tensor& values, const std::string& where,
                const std::string& name) {
  if (values.numel() == 0) return;
  if (type.held == DType::kBool) CheckBools(bytes, values.numel(), where, name);
  if (type.plain)
    std::memcpy(values.mutable_raw(), bytes, values.bytes());
  else if (type.name == "F8_E4M3")
    ConvertAll<uint8_t, Float16>(bytes, values.mutable_raw(), values.numel(), FromE4M3);
  else if (type.name == "F8_E5M2")
    ConvertAll<uint8_t, Float16>(bytes, values.mutable_raw(), values.numel(), FromE5M2);
  else if (type.name == "I8")
    Widen<int8_t, int32_t>(bytes, values);
  else if (type.name == "I16")
    Widen<int16_t, int32_t>(bytes, values);
  else if (type.name == "U16")
    Widen<uint16_t, int32_t>(bytes, values);
  else if (type.name == "U32")
    Widen<uint32_t, int64_t>(bytes, values);
  else
    ConvertAll<uint64_t, int64_t>(bytes, values.mutable_raw(), values.numel(),
                                  [&](uint64_t value) { return FromU64(value, where, name); });
}

void ToStored(const StoredType& type, const Tensor& values, void* bytes) {
  if (values.numel() == 0) return;
  if (type.plain)
    std::memcpy(bytes, values.raw(), values.bytes());
  else if (type.name == "F8_E4M3")
    ConvertAll<Float16, uint8_t>(values.raw(), bytes, values.numel(), ToE4M3);
  else if (type.name == "F8_E5M2")
    ConvertAll<Float16, uint8_t>(values.raw(), bytes, values.numel(), ToE5M2);
  else if (type.name == "I8")
    Narrowed<int8_t, int32_t>(values, bytes);
  else if (type.name == "I16")
    Narrowed<int16_t, int32_t>(values, bytes);
  else if (type.name == "U16")
    Narrowed<uint16_t, int32_t>(values, bytes);
  else if (type.name == "U32")
    Narrowed<uint32_t, int64_t>(values, bytes);
  else
    Narrowed<uint64_t, int64_t>(values, bytes);
}

}  // namespace torus::io
