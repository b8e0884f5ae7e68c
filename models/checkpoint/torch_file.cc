#include "models/checkpoint/torch_file.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "models/checkpoint/pickle_walk.h"
#include "models/checkpoint/torch_storages.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/zip_reader.h"

namespace torus {
namespace {

using pickle::Kind;
using pickle::Value;

constexpr size_t kMostOthers = 4096;
// Limits for the bytes of all tensors: per byte of the file, since tied tensors share a storage,
// and besides, since strides of 0 repeat elements.
constexpr uint64_t kMostCopies = 8, kMostRepeated = uint64_t{1} << 30;

// Whether the number of elements, of bytes and each stride can be counted, sizes of 0 as 1.
bool Countable(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  return std::ranges::all_of(sizes, [&](int64_t size) {
    return !__builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count) && count < int64_t{1}
                                                                                             << 60;
  });
}

// Whether a tensor that is not empty stays within `all` elements.
bool Fits(const Value& value, int64_t all) {
  int64_t last = value.integer;
  if (last < 0 || last >= all) return false;
  for (size_t i = 0; i < value.sizes.size(); ++i) {
    const int64_t size = value.sizes[i], stride = value.strides[i];
    if (size == 1) continue;
    if (stride > 0 && size - 1 > (all - 1 - last) / stride) return false;
    last += (size - 1) * stride;
  }
  return true;
}

Tensor MakeTensor(const Value& value, TorchStorages& storages, const std::string& where) {
  const Tensor flat = storages.Get(*value.items[0], *value.type);
  Require(value.sizes.size() <= kMaxRank && value.sizes.size() == value.strides.size(), where,
          "has a tensor with {} sizes and {} strides", value.sizes.size(), value.strides.size());
  Require(std::ranges::all_of(value.sizes, [](int64_t size) { return size >= 0; }) &&
              std::ranges::all_of(value.strides, [](int64_t stride) { return stride >= 0; }),
          where, "has a tensor of negative size or stride");
  Require(Countable(value.sizes), where, "has a tensor of more bytes than can be counted");
  const Shape shape{std::span<const int64_t>(value.sizes)};
  if (std::ranges::find(value.sizes, 0) != value.sizes.end()) return Tensor(shape, flat.dtype());
  Require(Fits(value, flat.numel()), where,
          "has a tensor that is larger than its storage of {} elements", flat.numel());
  const Strides strides{std::span<const int64_t>(value.strides)};
  return {flat.storage(), shape, strides, value.integer, flat.dtype()};
}

// Whether this reader can give the tensor's values.
bool IsRead(const Value& tensor) {
  return tensor.type != nullptr && tensor.items[0]->type != nullptr &&
         (!tensor.negative || IsFloating(tensor.type->held));
}

// A floating-point tensor with the sign bit of each element, the last of its bytes, inverted.
Tensor Negated(const Tensor& tensor) {
  if (tensor.numel() == 0) return tensor;
  Tensor negated = tensor.Clone();
  const std::span<uint8_t> bytes{static_cast<uint8_t*>(negated.mutable_raw()), negated.bytes()};
  const size_t size = SizeOf(negated.dtype());
  for (size_t end = size; end <= bytes.size(); end += size) bytes[end - 1] ^= 0x80;
  return negated;
}

// The keys that all of them begin with, without the last of each.
pickle::Path CommonPath(const pickle::Path& common, pickle::Path path) {
  path.pop_back();
  const auto [end, other] = std::ranges::mismatch(common, path);
  return {common.begin(), end};
}

// Collects the tensors and other values of a file.
class Collector {
 public:
  Collector(TorchStorages& storages, uint64_t file_bytes, const std::string& where)
      : storages_(storages), most_(kMostCopies * file_bytes + kMostRepeated), where_(where) {}

  TorchFile Collect(const Value& root) {
    pickle::Walk(root,
                 {.on_tensor = [this](const auto& path, const Value& v) { AddTensor(path, v); },
                  .on_other = [this](const auto& path, const Value& v) { AddOther(path, v); }},
                 where_);
    if (inner_) file_.inner = pickle::Joined(*inner_);
    return std::move(file_);
  }

 private:
  void AddTensor(const pickle::Path& path, const Value& value) {
    if (!IsRead(value)) return AddOther(path, value);
    const std::string name = pickle::Joined(path);
    file_.tensors.push_back({name, MakeTensor(value, storages_, where_)});
    if (!value.type->plain) file_.narrow[name] = value.type->name;
    bytes_ += file_.tensors.back().value.bytes();
    Require(bytes_ <= most_, where_, "has tensors of more than {} bytes", most_);
    if (value.negative) file_.tensors.back().value = Negated(file_.tensors.back().value);
    if (path.empty()) return;
    inner_ = inner_ ? CommonPath(*inner_, path) : pickle::Path(path.begin(), path.end() - 1);
  }
  void AddOther(const pickle::Path& path, const Value& value) {
    if (file_.others.size() >= kMostOthers) return;
    const std::string name = pickle::Joined(path);
    file_.others.push_back(fmt::format("{} = {}", io::Printable(name), pickle::Text(value)));
  }

  TorchStorages& storages_;
  const uint64_t most_;
  const std::string& where_;
  TorchFile file_;
  std::optional<pickle::Path> inner_;
  uint64_t bytes_ = 0;
};

TorchFile FromZip(const HeldBytes& held, const std::string& where) {
  const io::ZipReader zip(held.bytes, where);
  for (const std::string& name : zip.names()) {
    if (!name.ends_with("/data.pkl") || name.find('/') + 9 != name.size()) continue;
    const std::string folder = name.substr(0, name.size() - 8);
    const std::string order = folder + "byteorder";
    Require(!zip.contains(order) || zip.Get(order) == "little", where, "is not little-endian");
    const pickle::Document document = pickle::Read(zip.Get(name), where);
    ZipStorages storages(zip, folder, where, held.owner);
    return Collector(storages, held.bytes.size(), where).Collect(*document.root);
  }
  Throw<BadInput>(where, "is a ZIP archive without data.pkl: no file of torch.save");
}

bool LittleEndian(const Value& system) {
  const Value* little = system.kind == Kind::kDict ? Find(system, "little_endian") : nullptr;
  return little != nullptr && little->integer != 0;
}

TorchFile FromStream(const HeldBytes& held, const std::string& where) {
  constexpr int64_t kMagic = static_cast<int64_t>(0xa86a20f9469cfc6cull),  // its low 64 bits
      kProtocol = 1001;
  std::string_view rest = held.bytes;
  auto next = [&] {
    pickle::Document document = pickle::Read(rest, where);
    rest.remove_prefix(document.bytes);
    return document;
  };
  auto is = [](const pickle::Document& d, int64_t wanted) {
    return d.root->kind == Kind::kInt && d.root->integer == wanted;
  };
  Require(is(next(), kMagic) && is(next(), kProtocol), where, "is no file of torch.save");
  Require(LittleEndian(*next().root), where, "is not little-endian");
  const pickle::Document document = next(), keys = next();
  StreamStorages storages(rest, *keys.root, document, where, held.owner);
  return Collector(storages, held.bytes.size(), where).Collect(*document.root);
}

TorchFile Read(const HeldBytes& held, const std::string& where) {
  return io::ZipReader::IsZip(held.bytes) ? FromZip(held, where) : FromStream(held, where);
}

}  // namespace

TorchFile ReadTorchBytes(std::string_view bytes, const std::string& where) {
  return Read({.bytes = bytes}, where);
}

TorchFile ReadTorchFile(const std::string& path) {
  const io::InputFile file(path);
  const std::shared_ptr<char[]> bytes = std::make_shared_for_overwrite<char[]>(file.size());
  file.ReadAt(0, bytes.get(), file.size());
  // A ZIP archive, or a pickle, which begins with its protocol.
  Require(
      file.size() > 0 && (io::ZipReader::IsZip({bytes.get(), file.size()}) || bytes[0] == '\x80'),
      path,
      "must be a file of torch.save, or have a name that ends in .safetensors; got {} bytes of "
      "another kind",
      file.size());
  return Read({.bytes = {bytes.get(), file.size()}, .owner = bytes}, path);
}

}  // namespace torus
