#include "runtime/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "runtime/crc32c.h"
#include "runtime/io/little_endian.h"
#include "runtime/io/safetensors_sums.h"
#include "runtime/progress.h"

namespace torus {
namespace {

using safetensors::kMaxHeader;
using safetensors::kMetadata;
using safetensors::Quote;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr size_t kDataAlignment = 64;
constexpr size_t kLengthBytes = 8;  // the header's length, in front of it

std::string LengthOf(const std::string& header) {
  return io::ToLittleEndian(header.size(), kLengthBytes);
}

std::string ReadHeader(const io::InputFile& file, const std::string& path) {
  char first[kLengthBytes];
  Require(file.size() >= kLengthBytes, path, "{} bytes are too few for a safetensors file",
          file.size());
  file.ReadAt(0, first, kLengthBytes);
  const uint64_t length = io::LittleEndian({first, kLengthBytes});
  Require(length <= kMaxHeader, path,
          "is no safetensors file: its first 8 bytes give a header of {} bytes, above the format's "
          "bound of {}",
          length, kMaxHeader);
  Require(length <= file.size() - kLengthBytes, path,
          "header length {} is more than the {} bytes that follow", length,
          file.size() - kLengthBytes);
  std::string text(length, '\0');
  file.ReadAt(kLengthBytes, text.data(), length);
  return text;
}

const io::StoredType& TypeOf(const NamedTensor& tensor, const NarrowTypes& narrow) {
  const auto found = narrow.find(tensor.name);
  if (found == narrow.end()) return io::StoredTypeOf(tensor.value.dtype());
  const io::StoredType* const type = io::StoredTypeNamed(found->second);
  TORUS_CHECK(type != nullptr && type->held == tensor.value.dtype(), "{} cannot be written as {}",
              tensor.value.Describe(), found->second);
  return *type;
}

std::vector<NamedTensor> WideFirst(const std::string& path, std::vector<NamedTensor> tensors,
                                   const NarrowTypes& narrow) {
  std::set<std::string_view> names;
  for (const NamedTensor& tensor : tensors) {
    Require(tensor.value.defined(), path, "tensor {} is undefined", Quote(tensor.name));
    Require(tensor.value.device().kind == DeviceKind::kCpu, path, "tensor {} is not on the CPU",
            Quote(tensor.name));
    Require(tensor.name != kMetadata && names.insert(tensor.name).second, path, "{} cannot name {}",
            Quote(tensor.name), tensor.name == kMetadata ? "a tensor" : "two tensors");
  }
  std::ranges::stable_sort(tensors, std::greater{},
                           [&](const NamedTensor& tensor) { return TypeOf(tensor, narrow).bytes; });
  return tensors;
}

// A tensor's bytes in the file. `room` holds them where they are not those in memory.
std::span<const std::byte> BytesOf(const Tensor& packed, const io::StoredType& type,
                                   std::string& room) {
  if (type.plain) return {static_cast<const std::byte*>(packed.raw()), packed.bytes()};
  room.assign(static_cast<size_t>(packed.numel()) * type.bytes, '\0');
  io::ToStored(type, packed, room.data());
  return std::as_bytes(std::span(room));
}

std::vector<uint32_t> SumsOf(const std::vector<NamedTensor>& tensors, const NarrowTypes& narrow) {
  std::vector<uint32_t> sums;
  std::string room;
  for (const NamedTensor& tensor : tensors) {
    sums.push_back(Crc32c(BytesOf(tensor.value.Contiguous(), TypeOf(tensor, narrow), room)));
    TickProgress();
  }
  return sums;
}

std::string MakeHeader(const std::string& path, const std::vector<NamedTensor>& tensors,
                       std::map<std::string, std::string> metadata,
                       const std::vector<uint32_t>& sums, const NarrowTypes& narrow) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  metadata[safetensors::kSums] = safetensors::SumsEntry(sums);
  header[kMetadata] = metadata;
  size_t position = 0;
  for (const NamedTensor& tensor : tensors) {
    const auto& [name, value] = tensor;
    const io::StoredType& type = TypeOf(tensor, narrow);
    const size_t end = position + static_cast<size_t>(value.numel()) * type.bytes;
    header[name] = {{"dtype", type.name},
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
  while ((text.size() + kLengthBytes) % kDataAlignment != 0) text += ' ';
  Require(text.size() <= kMaxHeader, path,
          "{} tensors need a header above the format's bound of {}", tensors.size(), kMaxHeader);
  safetensors::SealHeader(text);
  return text;
}

uint32_t SumOfHeader(const std::string& text) { return Crc32c(text, Crc32c(LengthOf(text))); }

// None if a tensor has none.
std::optional<uint32_t> SumOfFile(const std::string& header,
                                  const std::vector<safetensors::Entry>& entries) {
  uint32_t sum = SumOfHeader(header);
  for (const safetensors::Entry& entry : entries) {
    if (!entry.checksum) return std::nullopt;
    sum = JoinCrc32c(sum, *entry.checksum, entry.end - entry.begin);
  }
  return sum;
}

// Each slice is summed while it is still in the cache.
uint32_t ReadAndSum(const io::InputFile& file, uint64_t offset, std::span<std::byte> bytes) {
  constexpr size_t kSlice = size_t{1} << 20;
  uint32_t sum = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kSlice, bytes.size()))) {
    const std::span<std::byte> slice = bytes.first(std::min(kSlice, bytes.size()));
    file.ReadAt(offset, slice.data(), slice.size());
    sum = Crc32c(slice, sum);
    offset += slice.size();
  }
  return sum;
}

}  // namespace

SafetensorsFile ReadSafetensors(const std::string& path) {
  return ReadSafetensors(io::InputFile(path));
}

SafetensorsFile ReadSafetensors(const io::InputFile& file) {
  const SafetensorsReader reader(file);
  SafetensorsFile out{.metadata = reader.metadata()};
  for (const safetensors::Entry& entry : reader.entries()) {
    out.tensors.push_back({entry.name, reader.Read(entry)});
    if (!entry.stored->plain) out.narrow[entry.name] = entry.stored->name;
  }
  return out;
}

SafetensorsReader::SafetensorsReader(const io::InputFile& file) : file_(file) {
  const std::string text = ReadHeader(file, file.path());
  data_start_ = kLengthBytes + text.size();
  header_ = safetensors::ParseHeader(file.path(), text, file.size() - data_start_);
  const bool has_sums = header_.metadata.contains(safetensors::kSums);
  safetensors::TakeSums(file.path(), text, header_);
  if (has_sums) checksum_ = SumOfFile(text, header_.entries);
}

Tensor SafetensorsReader::Read(const safetensors::Entry& entry) const {
  Tensor tensor(entry.shape, entry.dtype);
  const bool as_it_is = entry.stored->plain && entry.dtype != DType::kBool;
  std::vector<std::byte> room(as_it_is ? 0 : entry.end - entry.begin);
  const std::span<std::byte> bytes =
      as_it_is ? std::span(static_cast<std::byte*>(tensor.mutable_raw()), tensor.bytes())
               : std::span(room);
  const uint32_t sum = ReadAndSum(file_, data_start_ + entry.begin, bytes);
  Require(!entry.checksum || *entry.checksum == sum, file_.path(),
          "is damaged: tensor {} must have the checksum (CRC-32C) {:08x}, got {:08x}",
          Quote(entry.name), entry.checksum.value_or(0), sum);
  if (!as_it_is)
    io::FromStored(*entry.stored, reinterpret_cast<const char*>(room.data()), tensor, file_.path(),
                   entry.name);
  return tensor;
}

uint32_t WriteSafetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          const std::map<std::string, std::string>& metadata,
                          const NarrowTypes& narrow, io::IfExists if_exists) {
  const std::vector<NamedTensor> ordered = WideFirst(path, tensors, narrow);
  const std::vector<uint32_t> sums = SumsOf(ordered, narrow);
  const std::string header = MakeHeader(path, ordered, metadata, sums, narrow);
  io::OutputFile file(path, if_exists);
  file.Write(LengthOf(header));
  file.Write(header);
  uint32_t sum = SumOfHeader(header);
  std::string room;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const Tensor packed = ordered[i].value.Contiguous();
    const auto bytes = BytesOf(packed, TypeOf(ordered[i], narrow), room);
    file.Write(bytes.data(), bytes.size());
    sum = JoinCrc32c(sum, sums[i], bytes.size());
  }
  file.Close(true);
  return sum;
}

}  // namespace torus
