#include "runtime/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/io/file.h"

namespace torus {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint64_t kMaxHeader = 100'000'000;  // the reference implementation's bound
constexpr size_t kDataAlignment = 64;
constexpr const char* kMetadata = "__metadata__";

struct Spelling {
  DType dtype;
  std::string_view name;
};
constexpr std::array<Spelling, 8> kSpellings{{{DType::kF64, "F64"},
                                              {DType::kF32, "F32"},
                                              {DType::kBF16, "BF16"},
                                              {DType::kF16, "F16"},
                                              {DType::kI64, "I64"},
                                              {DType::kI32, "I32"},
                                              {DType::kU8, "U8"},
                                              {DType::kBool, "BOOL"}}};

std::string_view Spell(DType dtype) {
  return std::ranges::find(kSpellings, dtype, &Spelling::dtype)->name;
}

// A name from the file, fit for one line of a message: quoted, escaped and not too long.
std::string Quote(const std::string& name) {
  const std::string text = Json(name).dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 120 ? text : text.substr(0, 117) + "...";
}

// A file's description of one tensor.
struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  uint64_t begin, end;
};

// Reads the entries of one file; all errors name it.
class HeaderReader {
 public:
  HeaderReader(std::string path, const std::string& text) : path_(std::move(path)) {
    // JSON has no byte order mark; the parser would forgive it.
    Require(!text.starts_with("\xef\xbb\xbf"), path_, "the header begins with a byte order mark");
    try {
      header_ = Json::parse(text, [this](int depth, Json::parse_event_t event, Json& value) {
        return CheckEvent(depth, event, value);
      });
    } catch (const Json::parse_error& e) {
      Throw<BadInput>(path_, "the header is not UTF-8 JSON (at its byte {})", e.byte);
    }
    Require(header_.is_object(), path_, "the header is not a JSON object");
  }

  std::map<std::string, std::string> Metadata() const {
    std::map<std::string, std::string> metadata;
    if (!header_.contains(kMetadata)) return metadata;
    Require(header_[kMetadata].is_object(), path_, "{} is not an object of strings", kMetadata);
    for (const auto& [key, value] : header_[kMetadata].items()) {
      Require(value.is_string(), path_, "{} {} is not a string", kMetadata, Quote(key));
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  // All tensors by position, checked to cover `data_bytes` exactly.
  std::vector<Entry> Entries(uint64_t data_bytes) const {
    std::vector<Entry> entries;
    for (const auto& [name, fields] : header_.items())
      if (name != kMetadata) entries.push_back(ReadEntry(name, fields));
    std::ranges::stable_sort(entries, {},
                             [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    CheckCover(entries, data_bytes);
    return entries;
  }

 private:
  // Sees each piece as it is parsed: a key that came before, and nesting that no header has.
  bool CheckEvent(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      Require(depth <= 2, path_, "the header nests deeper than a tensor's fields");
      if (event == Event::object_start) keys_.emplace_back();
    } else if (event == Event::object_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      Require(keys_.back().insert(key).second, path_, "{} comes twice in the header", Quote(key));
    }
    return true;
  }

  Entry ReadEntry(const std::string& name, const Json& fields) const {
    Require(fields.is_object() && fields.size() == 3 && fields.contains("dtype") &&
                fields.contains("shape") && fields.contains("data_offsets"),
            path_, "tensor {}: needs exactly dtype, shape and data_offsets", Quote(name));
    Entry entry{name, ReadDType(name, fields["dtype"]), ReadShape(name, fields["shape"]), 0, 0};
    const Json& offsets = fields["data_offsets"];
    Require(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
                offsets[1].is_number_unsigned(),
            path_, "tensor {}: data_offsets must be two whole numbers", Quote(name));
    entry.begin = offsets[0].get<uint64_t>();
    entry.end = offsets[1].get<uint64_t>();
    CheckLength(entry);
    return entry;
  }

  DType ReadDType(const std::string& name, const Json& field) const {
    Require(field.is_string(), path_, "tensor {}: dtype is not a string", Quote(name));
    const auto& text = field.get_ref<const std::string&>();
    const auto found = std::ranges::find(kSpellings, text, &Spelling::name);
    Require(found != kSpellings.end(), path_,
            "tensor {}: dtype {} is none of F64 F32 BF16 F16 I64 "
            "I32 U8 BOOL",
            Quote(name), Quote(text));
    return found->dtype;
  }

  Shape ReadShape(const std::string& name, const Json& field) const {
    Require(field.is_array() && field.size() <= kMaxRank, path_,
            "tensor {}: shape must be a list of at most {} sizes", Quote(name), kMaxRank);
    Shape shape;
    for (const Json& size : field) {
      Require(size.is_number_unsigned() &&
                  size.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
              path_, "tensor {}: size {} of its shape is not a whole number below 2^63",
              Quote(name), shape.rank());
      shape.push_back(size.get<int64_t>());
    }
    return shape;
  }

  void CheckLength(const Entry& entry) const {
    // Sizes of 0 count as 1 in the overflow check, since strides are products too.
    int64_t bytes = static_cast<int64_t>(SizeOf(entry.dtype));
    bool overflow = false, empty = false;
    for (int64_t size : entry.shape) {
      overflow |= __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes);
      empty |= size == 0;
    }
    Require(!overflow, path_, "tensor {}: shape {} has more bytes than can be counted",
            Quote(entry.name), ToString(entry.shape));
    const uint64_t needed = empty ? 0 : static_cast<uint64_t>(bytes);
    Require(entry.begin <= entry.end && entry.end - entry.begin == needed, path_,
            "tensor {}: data_offsets [{}, {}] do not hold the {} bytes of {} {}", Quote(entry.name),
            entry.begin, entry.end, needed, Spell(entry.dtype), ToString(entry.shape));
  }

  void CheckCover(const std::vector<Entry>& entries, uint64_t data_bytes) const {
    uint64_t position = 0;
    for (const Entry& entry : entries) {
      Require(entry.begin == position, path_, "tensor {}: begins at {}, {} byte {}",
              Quote(entry.name), entry.begin,
              entry.begin > position ? "leaving a hole from" : "overlapping the bytes before",
              position);
      Require(entry.end <= data_bytes, path_, "tensor {}: ends at {}, the file holds {} data bytes",
              Quote(entry.name), entry.end, data_bytes);
      position = entry.end;
    }
    Require(position == data_bytes, path_, "its tensors take {} data bytes, the file holds {}",
            position, data_bytes);
  }

  std::string path_;
  Json header_;
  std::vector<std::set<std::string>> keys_;  // of the objects now open
};

std::string ReadHeader(const io::InputFile& file, const std::string& path) {
  uint64_t length = 0;
  Require(file.size() >= sizeof(length), path, "{} bytes are too few for a safetensors file",
          file.size());
  file.ReadAt(0, &length, sizeof(length));
  Require(length <= kMaxHeader, path, "header length {} is above the format's bound of {}", length,
          kMaxHeader);
  Require(length <= file.size() - sizeof(length), path,
          "header length {} is more than the {} bytes that follow", length,
          file.size() - sizeof(length));
  std::string text(length, '\0');
  file.ReadAt(sizeof(length), text.data(), length);
  return text;
}

Tensor ReadTensor(const io::InputFile& file, const std::string& path, const Entry& entry,
                  uint64_t data_start) {
  Tensor tensor(entry.shape, entry.dtype);
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
  file.ReadAt(data_start + entry.begin, bytes, tensor.bytes());
  if (entry.dtype == DType::kBool) {
    // Any other byte would be undefined behaviour in a C++ bool.
    Require(std::all_of(bytes, bytes + tensor.bytes(), [](uint8_t byte) { return byte <= 1; }),
            path, "tensor {}: a BOOL is neither 0 nor 1", Quote(entry.name));
  }
  return tensor;
}

std::vector<NamedTensor> WideFirst(const std::string& path, std::vector<NamedTensor> tensors) {
  std::set<std::string_view> names;
  for (const NamedTensor& tensor : tensors) {
    Require(tensor.value.defined(), path, "tensor {} is undefined", Quote(tensor.name));
    Require(tensor.value.device().kind == DeviceKind::kCpu, path, "tensor {} is not on the CPU",
            Quote(tensor.name));
    Require(tensor.name != kMetadata && names.insert(tensor.name).second, path, "{} cannot name {}",
            Quote(tensor.name), tensor.name == kMetadata ? "a tensor" : "two tensors");
  }
  std::ranges::stable_sort(tensors, std::greater{},
                           [](const NamedTensor& tensor) { return SizeOf(tensor.value.dtype()); });
  return tensors;
}

std::string MakeHeader(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  size_t position = 0;
  for (const auto& [name, value] : tensors) {
    const size_t end = position + value.bytes();
    header[name] = {{"dtype", Spell(value.dtype())},
                    {"shape", std::vector<int64_t>(value.shape().begin(), value.shape().end())},
                    {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::type_error&) {
    Throw<BadInput>(path, "a name or metadata to write is not UTF-8");
  }
  while ((text.size() + sizeof(uint64_t)) % kDataAlignment != 0) text += ' ';
  Require(text.size() <= kMaxHeader, path,
          "{} tensors need a header above the format's bound of {}", tensors.size(), kMaxHeader);
  return text;
}

}  // namespace

SafetensorsFile ReadSafetensors(const std::string& path) {
  const io::InputFile file(path);
  const std::string text = ReadHeader(file, path);
  const uint64_t data_start = sizeof(uint64_t) + text.size();
  const HeaderReader header(path, text);
  SafetensorsFile out;
  out.metadata = header.Metadata();
  for (const Entry& entry : header.Entries(file.size() - data_start))
    out.tensors.push_back({entry.name, ReadTensor(file, path, entry, data_start)});
  return out;
}

void WriteSafetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::vector<NamedTensor> ordered = WideFirst(path, tensors);
  const std::string header = MakeHeader(path, ordered, metadata);
  const uint64_t length = header.size();
  io::OutputFile file(path);
  file.Write(&length, sizeof(length));
  file.Write(header);
  for (const NamedTensor& tensor : ordered) {
    const Tensor packed = tensor.value.Contiguous();
    file.Write(packed.raw(), packed.bytes());
  }
  file.Close(true);
}

}  // namespace torus
