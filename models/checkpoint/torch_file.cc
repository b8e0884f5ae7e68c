#include "models/checkpoint/torch_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "models/checkpoint/pickle.h"
#include "models/checkpoint/zip_reader.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"

namespace torus {
namespace {

using pickle::Kind;
using pickle::Value;

constexpr int kDeepest = 64;
constexpr int64_t kMostValues = 1 << 20;
constexpr size_t kMostOthers = 4096, kLongestName = 1000;
// Limit for the bytes of all tensors per byte of the file; tied tensors share a storage but are
// copied separately.
constexpr uint64_t kMostCopies = 8;

// Finds the bytes of a storage.
class Storages {
 public:
  explicit Storages(std::string where) : where_(std::move(where)) {}
  virtual ~Storages() = default;

  // All elements of a storage, as one tensor for all tensors that share it.
  Tensor Get(const Value& storage) {
    const auto [place, fresh] = made_.try_emplace(storage.text);
    if (fresh) place->second = Make(storage);
    Require(place->second.dtype() == storage.dtype && place->second.numel() == storage.integer,
            where_, "storage {} is said to be of two types or lengths",
            io::Printable(storage.text));
    return place->second;
  }

 protected:
  virtual std::string_view Bytes(const Value& storage) = 0;
  const std::string& where() const { return where_; }

 private:
  Tensor Make(const Value& storage) {
    const std::string_view bytes = Bytes(storage);
    const uint64_t size = SizeOf(storage.dtype);
    Require(storage.integer >= 0 && bytes.size() % size == 0 &&
                bytes.size() / size == static_cast<uint64_t>(storage.integer),
            where_, "storage {} must have {} elements of {} bytes, but has {} bytes",
            io::Printable(storage.text), storage.integer, size, bytes.size());
    if (storage.dtype == DType::kBool)
      for (const char c : bytes)
        Require(c == 0 || c == 1, where_, "storage {} has a truth value of {}",
                io::Printable(storage.text), static_cast<int>(c));
    Tensor tensor({storage.integer}, storage.dtype);
    if (!bytes.empty()) std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
    return tensor;
  }

  std::string where_;
  std::map<std::string, Tensor> made_;
};

class ZipStorages : public Storages {
 public:
  ZipStorages(const ZipReader& zip, std::string folder, const std::string& where)
      : Storages(where), zip_(zip), folder_(std::move(folder)) {}

 protected:
  std::string_view Bytes(const Value& storage) override {
    return zip_.Get(folder_ + "data/" + storage.text);
  }

 private:
  const ZipReader& zip_;
  std::string folder_;
};

class StreamStorages : public Storages {
 public:
  // `bytes` follow the list of keys: for each key an i64 count and the elements.
  StreamStorages(std::string_view bytes, const Value& keys, const std::string& where)
      : Storages(where), rest_(bytes) {
    Require(keys.kind == Kind::kList, where, "has no list of storages");
    for (const Value* key : keys.items) {
      Require(key->kind == Kind::kText, where, "has a storage whose key is no text");
      order_.push_back(key->text);
    }
  }
  // The dtypes of all storages must be known before the first one can be located.
  void Locate(const std::map<std::string, DType>& types) {
    for (const std::string& key : order_) {
      const auto type = types.find(key);
      Require(type != types.end(), where(), "has storage {}, which no tensor uses",
              io::Printable(key));
      uint64_t count = 0;
      Require(rest_.size() >= sizeof(count), where(), "ends before storage {}", io::Printable(key));
      std::memcpy(&count, rest_.data(), sizeof(count));
      rest_.remove_prefix(sizeof(count));
      const uint64_t size = SizeOf(type->second);
      Require(count <= rest_.size() / size, where(), "ends within storage {}", io::Printable(key));
      found_[key] = rest_.substr(0, count * size);
      rest_.remove_prefix(count * size);
    }
    Require(rest_.empty(), where(), "has {} bytes too many", rest_.size());
  }

 protected:
  std::string_view Bytes(const Value& storage) override {
    const auto found = found_.find(storage.text);
    Require(found != found_.end(), where(), "has no storage {}", io::Printable(storage.text));
    return found->second;
  }

 private:
  std::string_view rest_;
  std::vector<std::string> order_;
  std::map<std::string, std::string_view> found_;
};

Tensor MakeTensor(const Value& value, Storages& storages, const std::string& where) {
  const Tensor flat = storages.Get(*value.items[0]);
  Require(value.sizes.size() <= kMaxRank && value.sizes.size() == value.strides.size(), where,
          "has a tensor with {} sizes and {} strides", value.sizes.size(), value.strides.size());
  const Shape shape{std::span<const int64_t>(value.sizes)};
  const bool empty = std::ranges::find(value.sizes, 0) != value.sizes.end();
  const int64_t all = flat.numel();
  int64_t count = 1, last = value.integer;
  Require(last >= 0 && (empty || last < all), where, "has a tensor that begins beyond its storage");
  for (size_t i = 0; i < value.sizes.size(); ++i) {
    const int64_t size = value.sizes[i], stride = value.strides[i];
    Require(size >= 0 && stride >= 0, where, "has a tensor of negative size or stride");
    if (empty || size == 1) continue;
    Require(count <= all / size && (stride == 0 || size - 1 <= (all - 1 - last) / stride), where,
            "has a tensor that is larger than its storage of {} elements", all);
    count *= size;
    last += (size - 1) * stride;
  }
  if (empty) return Tensor(shape, flat.dtype());
  const Strides strides{std::span<const int64_t>(value.strides)};
  return Tensor(flat.storage(), shape, strides, value.integer, flat.dtype()).Clone();
}

std::string Text(const Value& value) {
  switch (value.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.integer != 0 ? "True" : "False";
    case Kind::kInt:
      return std::to_string(value.integer);
    case Kind::kFloat:
      return fmt::format("{}", value.real);
    case Kind::kText:
      return fmt::format("\"{}\"", value.text.substr(0, 100));
    case Kind::kGlobal:
      return value.text;
    default:
      return fmt::format("({} items)", value.items.size());
  }
}

// Visits a document's tensors and plain values with their names.
template <class OnTensor, class OnOther>
class Walk {
 public:
  Walk(OnTensor on_tensor, OnOther on_other, const std::string& where)
      : on_tensor_(std::move(on_tensor)), on_other_(std::move(on_other)), where_(where) {}

  void Visit(const Value& value, const std::string& name, int depth = 0) {
    Require(depth <= kDeepest && ++visited_ <= kMostValues, where_,
            "is nested too deeply, or in itself");
    Require(name.size() <= kLongestName, where_, "has a name of {} characters", name.size());
    auto child = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
    if (value.kind == Kind::kTensor) return on_tensor_(name, value);
    const bool list = value.kind == Kind::kList || value.kind == Kind::kTuple;
    if (list) {
      for (size_t i = 0; i < value.items.size(); ++i)
        Visit(*value.items[i], child(std::to_string(i)), depth + 1);
    } else if (value.kind == Kind::kDict) {
      for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const Value& key = *value.items[i];
        Visit(*value.items[i + 1], child(key.kind == Kind::kText ? key.text : Text(key)),
              depth + 1);
      }
    } else {
      on_other_(name, value);
    }
  }

 private:
  OnTensor on_tensor_;
  OnOther on_other_;
  const std::string& where_;
  int64_t visited_ = 0;
};

bool HasTensor(const Value& value) {
  if (value.kind == Kind::kTensor) return true;
  for (const Value* item : value.items)
    if (item->kind == Kind::kTensor) return true;
  return false;
}

// The dictionary whose values are the tensors, if each outer one has a single item that leads
// there.
const Value* Innermost(const Value* root) {
  for (int depth = 0; depth < kDeepest && root->kind == Kind::kDict && !HasTensor(*root); ++depth) {
    const Value* only = nullptr;
    for (size_t i = 1; i < root->items.size(); i += 2) {
      const Value* item = root->items[i];
      if (item->kind != Kind::kDict || item->items.empty()) continue;
      if (only != nullptr) return root;
      only = item;
    }
    if (only == nullptr) return root;
    root = only;
  }
  return root;
}

TorchFile Collect(const Value* root, Storages& storages, uint64_t file_bytes,
                  const std::string& where) {
  TorchFile file;
  uint64_t bytes = 0;
  const Value* inner = Innermost(root);
  auto tensor = [&](const std::string& name, const Value& value) {
    file.tensors.push_back({name, MakeTensor(value, storages, where)});
    bytes += file.tensors.back().value.bytes();
    Require(bytes <= kMostCopies * file_bytes, where, "has tensors of more than {} times its bytes",
            kMostCopies);
  };
  auto other = [&](const std::string& name, const Value& value) {
    if (file.others.size() < kMostOthers) file.others.push_back(name + " = " + Text(value));
  };
  Walk walk(tensor, other, where);
  walk.Visit(*inner, "");
  for (size_t i = 1; inner != root && i < root->items.size(); i += 2)
    if (root->items[i]->kind != Kind::kDict) other(Text(*root->items[i - 1]), *root->items[i]);
  return file;
}

TorchFile FromZip(std::string_view bytes, const std::string& where) {
  const ZipReader zip(bytes, where);
  for (const std::string& name : zip.names()) {
    if (!name.ends_with("/data.pkl") || name.find('/') + 9 != name.size()) continue;
    const std::string folder = name.substr(0, name.size() - 8);
    const std::string order = folder + "byteorder";
    Require(!zip.contains(order) || zip.Get(order) == "little", where, "is not little-endian");
    const pickle::Document document = pickle::Read(zip.Get(name), where);
    ZipStorages storages(zip, folder, where);
    return Collect(document.root, storages, bytes.size(), where);
  }
  Throw<BadInput>(where, "is a ZIP archive without data.pkl: no file of torch.save");
}

bool LittleEndian(const Value& system) {
  for (size_t i = 0; system.kind == Kind::kDict && i + 1 < system.items.size(); i += 2)
    if (system.items[i]->text == "little_endian") return system.items[i + 1]->integer != 0;
  return false;
}

TorchFile FromStream(std::string_view bytes, const std::string& where) {
  constexpr int64_t kMagic = static_cast<int64_t>(0xa86a20f9469cfc6cull),  // its low 64 bits
      kProtocol = 1001;
  std::string_view rest = bytes;
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
  StreamStorages storages(rest, *keys.root, where);
  std::map<std::string, DType> types;
  for (const auto& value : document.values)
    if (value->kind == Kind::kStorage) types.emplace(value->text, value->dtype);
  storages.Locate(types);
  return Collect(document.root, storages, bytes.size(), where);
}

}  // namespace

TorchFile ReadTorchBytes(std::string_view bytes, const std::string& where) {
  return ZipReader::IsZip(bytes) ? FromZip(bytes, where) : FromStream(bytes, where);
}

TorchFile ReadTorchFile(const std::string& path) {
  const io::InputFile file(path);
  const auto bytes = std::make_unique_for_overwrite<char[]>(file.size());
  file.ReadAt(0, bytes.get(), file.size());
  // A ZIP archive, or a pickle, which begins with its protocol.
  Require(file.size() > 0 && (ZipReader::IsZip({bytes.get(), file.size()}) || bytes[0] == '\x80'),
          path,
          "must be a file of torch.save, or have a name that ends in .safetensors; got {} bytes of "
          "another kind",
          file.size());
  return ReadTorchBytes({bytes.get(), file.size()}, path);
}

}  // namespace torus
