#include "runtime/io/npy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/little_endian.h"
#include "runtime/io/stored_type.h"
#include "runtime/io/zip_reader.h"
#include "runtime/io/zip_writer.h"

namespace torus {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMostHeader = 1 << 20;

struct NpyType {
  std::string_view numpy;   // without the byte order
  std::string_view stored;  // as io::StoredTypeNamed spells it
};
constexpr std::array<NpyType, 12> kTypes{{{"f2", "F16"},
                                          {"f4", "F32"},
                                          {"f8", "F64"},
                                          {"i1", "I8"},
                                          {"i2", "I16"},
                                          {"i4", "I32"},
                                          {"i8", "I64"},
                                          {"u1", "U8"},
                                          {"u2", "U16"},
                                          {"u4", "U32"},
                                          {"u8", "U64"},
                                          {"b1", "BOOL"}}};

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  Shape shape;
};

// Reads the header, a literal of a Python dictionary.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader Parse() {
    Expect('{');
    std::set<std::string> seen;
    while (!Takes('}')) {
      const std::string key = Quoted();
      Check(seen.insert(key).second, "a key twice");
      Expect(':');
      ParseValue(key);
      if (!Takes(',')) {
        Expect('}');
        break;
      }
    }
    SkipSpaces();
    Check(at_ == text_.size(), "more than a dictionary");
    Check(seen.size() == 3, "fewer than the three keys");
    return header_;
  }

 private:
  void ParseValue(const std::string& key) {
    if (key == "descr") {
      Check(Peek() != '[', "a structure of several types");
      header_.descr = Quoted();
    } else if (key == "fortran_order") {
      header_.fortran = Truth();
    } else {
      Check(key == "shape", "a key besides descr, fortran_order and shape");
      ParseShape();
    }
  }

  void ParseShape() {
    Expect('(');
    while (!Takes(')')) {
      Check(header_.shape.rank() < kMaxRank, "more dimensions than tensors have");
      header_.shape.push_back(Size());
      if (!Takes(',')) {
        Expect(')');
        break;
      }
    }
  }

  int64_t Size() {
    SkipSpaces();
    int64_t value = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      Check(!__builtin_mul_overflow(value, 10, &value) &&
                !__builtin_add_overflow(value, text_[at_] - '0', &value),
            "a size beyond 64 bits");
    Check(at_ > begin, "no size where one belongs");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote them
    return value;
  }

  bool Truth() {
    SkipSpaces();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    Check(false, "neither True nor False where one belongs");
    return false;
  }

  std::string Quoted() {
    const char quote = Peek();
    Check(quote == '\'' || quote == '"', "no text where one belongs");
    const size_t begin = at_ + 1, end = text_.find(quote, begin);
    Check(end != text_.npos && text_.substr(begin, end - begin).find('\\') == text_.npos,
          "a text without end, or with a backslash");
    at_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  char Peek() {
    SkipSpaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Takes(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }
  void Expect(char wanted) {
    if (!Takes(wanted)) Throw<BadInput>(where_, "its header has no '{}' at byte {}", wanted, at_);
  }
  void SkipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  void Check(bool ok, const char* what) const {
    Require(ok, where_, "its header has {} at byte {}", what, at_);
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  NpyHeader header_;
};

struct NpyParts {
  NpyHeader header;
  std::string_view elements;
};

NpyParts PartsOf(std::string_view bytes, const std::string& where) {
  Require(bytes.starts_with(kMagic) && bytes.size() >= 10, where, "is no .npy file");
  const int major = bytes[6], minor = bytes[7];
  Require(major >= 1 && major <= 3 && minor == 0, where,
          "has version {}.{} of the .npy format; 1.0, 2.0 and 3.0 are read", major, minor);
  const size_t width = major == 1 ? 2 : 4, begin = 8 + width;
  Require(bytes.size() >= begin, where, "ends within its header");
  const uint64_t length = io::LittleEndian(bytes.substr(8, width));
  Require(length <= kMostHeader, where, "has a header of {} bytes; at most {} are read", length,
          kMostHeader);
  Require(length <= bytes.size() - begin, where, "ends within its header");
  return {HeaderParser(bytes.substr(begin, length), where).Parse(), bytes.substr(begin + length)};
}

const io::StoredType& TypeOf(const std::string& descr, const std::string& where) {
  const auto* const found =
      descr.empty() ? kTypes.end()
                    : std::ranges::find(kTypes, std::string_view(descr).substr(1), &NpyType::numpy);
  const io::StoredType* const type =
      found == kTypes.end() ? nullptr : io::StoredTypeNamed(found->stored);
  const bool ordered = !descr.empty() && (descr[0] == '<' || descr[0] == '>' ||
                                          (type != nullptr && type->bytes == 1 && descr[0] == '|'));
  Require(type != nullptr && ordered, where,
          "has elements of {}; read are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 of either byte order",
          io::Printable(descr));
  return *type;
}

void CheckLength(const NpyParts& parts, size_t element, const std::string& where) {
  uint64_t wanted = element;
  bool fits = true;
  for (int64_t size : parts.header.shape)
    fits = !__builtin_mul_overflow(wanted, static_cast<uint64_t>(size), &wanted) && fits;
  const bool empty = std::ranges::count(parts.header.shape, 0) > 0;
  Require((fits || empty) && (empty ? 0 : wanted) == parts.elements.size(), where,
          "has {} bytes of elements, which is not what shape {} needs at {} bytes each",
          parts.elements.size(), parts.header.shape, element);
}

// The elements in this machine's byte order.
std::string Swapped(std::string_view bytes, size_t element) {
  std::string swapped(bytes);
  for (size_t at = 0; at < swapped.size(); at += element)
    std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(at),
                 swapped.begin() + static_cast<std::ptrdiff_t>(at + element));
  return swapped;
}

Dims Reversed(const Dims& dims) {
  Dims reversed = dims;
  for (int i = 0; i < dims.rank(); ++i) reversed[i] = dims[dims.rank() - 1 - i];
  return reversed;
}

// Fortran's order is that of the transposed tensor.
Tensor FromFortran(const Tensor& transposed) {
  Dims order;
  for (int d = transposed.rank() - 1; d >= 0; --d) order.push_back(d);
  return transposed.Permute(order).Contiguous();
}

std::string DescrOf(DType dtype) {
  Require(dtype != DType::kBF16, "npy", "NumPy has no bf16; cast the tensor to f32");
  const std::string_view stored = io::StoredTypeOf(dtype).name;
  const NpyType& type = *std::ranges::find(kTypes, stored, &NpyType::stored);
  return fmt::format("{}{}", SizeOf(dtype) == 1 ? '|' : '<', type.numpy);
}

// All that comes before the elements: a multiple of 64 bytes, as the format wants. Throws for what
// cannot be written.
std::string HeaderOf(const Tensor& tensor) {
  Require(tensor.defined() && tensor.device() != kMetaDevice, "npy",
          "needs a tensor with values, got {}", tensor);
  std::string shape;
  for (int64_t size : tensor.shape()) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", size);
  if (tensor.rank() == 1) shape += ",";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 DescrOf(tensor.dtype()), shape);
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  // Version 1.0.
  return std::string(kMagic) + io::ToLittleEndian(1, 2) + io::ToLittleEndian(text.size(), 2) + text;
}

Tensor DenseOf(const Tensor& tensor) { return tensor.To(Device{}).Contiguous(); }

std::string_view ElementsOf(const Tensor& dense) {
  return {static_cast<const char*>(dense.numel() == 0 ? nullptr : dense.raw()), dense.bytes()};
}

}  // namespace

Tensor ReadNpyBytes(std::string_view bytes, const std::string& where) {
  const NpyParts parts = PartsOf(bytes, where);
  const auto& [descr, fortran, shape] = parts.header;
  const io::StoredType& type = TypeOf(descr, where);
  CheckLength(parts, type.bytes, where);
  const bool swap = descr[0] == '>' && type.bytes > 1;
  const std::string swapped = swap ? Swapped(parts.elements, type.bytes) : "";
  Tensor values(fortran ? Reversed(shape) : shape, type.held);
  if (values.numel() > 0)
    io::FromStored(type, swap ? swapped.data() : parts.elements.data(), values, where, "array");
  return fortran ? FromFortran(values) : values;
}

Tensor ReadNpy(const std::string& path) {
  return ReadNpyBytes(io::InputFile(path).ReadAll(), path);
}

void WriteNpy(const std::string& path, const Tensor& tensor) {
  const std::string header = HeaderOf(tensor);
  const Tensor dense = DenseOf(tensor);
  io::OutputFile file(path);
  file.Write(header);
  file.Write(ElementsOf(dense));
  file.Close(true);
}

std::vector<NamedTensor> ReadNpzBytes(std::string_view bytes, const std::string& where) {
  const io::ZipReader zip(bytes, where, io::Deflated::kRead);
  std::vector<NamedTensor> tensors;
  for (const std::string& member : zip.names()) {
    const std::string name = member.ends_with(".npy") ? member.substr(0, member.size() - 4) : "";
    Require(!name.empty(), where, "has member {}, which is no NAME.npy", io::Printable(member));
    const std::string here = fmt::format("{}: {}", where, io::Printable(member));
    tensors.push_back({name, ReadNpyBytes(zip.Read(member), here)});
  }
  return tensors;
}

std::vector<NamedTensor> ReadNpz(const std::string& path) {
  return ReadNpzBytes(io::InputFile(path).ReadAll(), path);
}

void WriteNpz(const std::string& path, const std::vector<NamedTensor>& tensors, bool compressed) {
  std::set<std::string> seen;
  for (const NamedTensor& tensor : tensors) {
    Require(!tensor.name.empty(), path, "an array needs a name");
    Require(seen.insert(tensor.name).second, path, "has {} twice", io::Printable(tensor.name));
    HeaderOf(tensor.value);  // throws before the file is touched
  }
  io::OutputFile file(path);
  io::ZipWriter zip(file, path);
  for (const NamedTensor& tensor : tensors) {
    const Tensor dense = DenseOf(tensor.value);
    zip.Add(tensor.name + ".npy", {HeaderOf(dense), ElementsOf(dense)}, compressed);
  }
  zip.Finish();
  file.Close(true);
}

}  // namespace torus
