#include "models/checkpoint/torch_storages.h"

#include <cstring>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {

using pickle::Kind;
using pickle::Value;

Tensor TorchStorages::Get(const Value& storage, const io::StoredType& type) {
  const auto [place, fresh] = made_.try_emplace({storage.text, type.name});
  Made& made = place->second;
  if (fresh) made.bytes = Bytes(storage.text);
  const uint64_t size = storage.type->bytes;
  Require(storage.integer >= 0 && made.bytes.size() % size == 0 &&
              made.bytes.size() / size == static_cast<uint64_t>(storage.integer),
          where_, "storage {} must have {} elements of {} bytes, but has {} bytes",
          io::Printable(storage.text), storage.integer, size, made.bytes.size());
  if (!made.elements.defined()) made.elements = Make(storage.text, made.bytes, type);
  return made.elements;
}

Tensor TorchStorages::Make(const std::string& key, std::string_view bytes,
                           const io::StoredType& type) const {
  const Shape shape{static_cast<int64_t>(bytes.size() / type.bytes)};
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % type.bytes == 0;
  if (owner_ != nullptr && aligned && type.plain && type.held != DType::kBool && shape[0] > 0) {
    auto block =
        std::make_shared<Storage>(const_cast<char*>(bytes.data()), bytes.size(), Device{}, owner_);
    return {std::move(block), shape, Strides{1}, 0, type.held};
  }
  Tensor tensor(shape, type.held);
  io::FromStored(type, bytes.data(), tensor, where_, key);
  return tensor;
}

StreamStorages::StreamStorages(std::string_view bytes, const Value& keys,
                               const pickle::Document& document, const std::string& where,
                               std::shared_ptr<const void> owner)
    : TorchStorages(where, std::move(owner)) {
  std::map<std::string, const Value*> used;
  for (const auto& value : document.values)
    if (value->kind == Kind::kStorage) used.emplace(value->text, value.get());
  Require(keys.kind == Kind::kList, where, "has no list of storages");
  for (const Value* key : keys.items) {
    Require(key->kind == Kind::kText, where, "has a storage whose key is no text");
    const auto storage = used.find(key->text);
    Locate(key->text, storage == used.end() ? nullptr : storage->second, bytes);
  }
  Require(bytes.empty(), where, "has {} bytes too many", bytes.size());
}

void StreamStorages::Locate(const std::string& key, const Value* storage, std::string_view& rest) {
  Require(storage != nullptr, where(), "has storage {}, which no tensor uses", io::Printable(key));
  const uint64_t size = storage->width;
  Require(size > 0, where(), "has storage {} of a type that is not known", io::Printable(key));
  uint64_t count = 0;
  Require(rest.size() >= sizeof(count), where(), "ends before storage {}", io::Printable(key));
  std::memcpy(&count, rest.data(), sizeof(count));
  rest.remove_prefix(sizeof(count));
  Require(count <= rest.size() / size, where(), "ends within storage {}", io::Printable(key));
  found_[key] = rest.substr(0, count * size);
  rest.remove_prefix(count * size);
}

std::string_view StreamStorages::Bytes(const std::string& key) {
  const auto found = found_.find(key);
  Require(found != found_.end(), where(), "has no storage {}", io::Printable(key));
  return found->second;
}

}  // namespace torus
