#include "runtime/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

namespace torus {
namespace {

using safetensors::kMaxHeader;
using safetensors::kMetadata;
using safetensors::Quote;
using safetensors::Spell;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr size_t kDataAlignment = 64;

std::string ReadHeader(const io::InputFile& file, const std::string& path) {
  uint64_t length = 0;
  Require(file.size() >= sizeof(length), path, "{} bytes are too few for a safetensors file",
          file.size());
  file.ReadAt(0, &length, sizeof(length));
  Require(length <= kMaxHeader, path,
          "is no safetensors file: its first 8 bytes give a header of {} bytes, above the format's "
          "bound of {}",
          length, kMaxHeader);
  Require(length <= file.size() - sizeof(length), path,
          "header length {} is more than the {} bytes that follow", length,
          file.size() - sizeof(length));
  std::string text(length, '\0');
  file.ReadAt(sizeof(length), text.data(), length);
  return text;
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
  } catch (const nlohmann::json::type_error&) {
    Throw<BadInput>(path, "a name or metadata to write is not UTF-8");
  }
  while ((text.size() + sizeof(uint64_t)) % kDataAlignment != 0) text += ' ';
  Require(text.size() <= kMaxHeader, path,
          "{} tensors need a header above the format's bound of {}", tensors.size(), kMaxHeader);
  return text;
}

}  // namespace

SafetensorsFile ReadSafetensors(const std::string& path) {
  return ReadSafetensors(io::InputFile(path));
}

SafetensorsFile ReadSafetensors(const io::InputFile& file) {
  const SafetensorsReader reader(file);
  SafetensorsFile out{.metadata = reader.metadata()};
  for (const safetensors::Entry& entry : reader.entries())
    out.tensors.push_back({entry.name, reader.Read(entry)});
  return out;
}

SafetensorsReader::SafetensorsReader(const io::InputFile& file) : file_(file) {
  const std::string text = ReadHeader(file, file.path());
  data_start_ = sizeof(uint64_t) + text.size();
  header_ = safetensors::ParseHeader(file.path(), text, file.size() - data_start_);
}

Tensor SafetensorsReader::Read(const safetensors::Entry& entry) const {
  Tensor tensor(entry.shape, entry.dtype);
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
  file_.ReadAt(data_start_ + entry.begin, bytes, tensor.bytes());
  if (entry.dtype == DType::kBool) {
    // Any other byte would be undefined behaviour in a C++ bool.
    Require(std::all_of(bytes, bytes + tensor.bytes(), [](uint8_t byte) { return byte <= 1; }),
            file_.path(), "tensor {}: a BOOL is neither 0 nor 1", Quote(entry.name));
  }
  return tensor;
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
