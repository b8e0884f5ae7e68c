#include "models/checkpoint/pickle_calls.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "runtime/io/json.h"

namespace torus::pickle {
namespace {

using Items = std::vector<Value*>;
using Names = std::set<std::string_view>;

// What torch.save names storages, and what it names types where it has no storage of that name.
const io::StoredType* TypeNamed(const std::string& name) {
  static const std::map<std::string_view, std::string_view> names = {
      {"torch.DoubleStorage", "F64"},
      {"torch.FloatStorage", "F32"},
      {"torch.BFloat16Storage", "BF16"},
      {"torch.HalfStorage", "F16"},
      {"torch.LongStorage", "I64"},
      {"torch.IntStorage", "I32"},
      {"torch.ShortStorage", "I16"},
      {"torch.CharStorage", "I8"},
      {"torch.ByteStorage", "U8"},
      {"torch.BoolStorage", "BOOL"},
      {"torch.UntypedStorage", "U8"},
      {"torch.storage.UntypedStorage", "U8"},
      {"torch.float8_e4m3fn", "F8_E4M3"},
      {"torch.float8_e5m2", "F8_E5M2"},
      {"torch.uint16", "U16"},
      {"torch.uint32", "U32"},
      {"torch.uint64", "U64"},
      {"torch.float64", "F64"},
      {"torch.float32", "F32"},
      {"torch.bfloat16", "BF16"},
      {"torch.float16", "F16"},
      {"torch.int64", "I64"},
      {"torch.int32", "I32"},
      {"torch.int16", "I16"},
      {"torch.int8", "I8"},
      {"torch.uint8", "U8"},
      {"torch.bool", "BOOL"}};
  const auto found = names.find(name);
  return found == names.end() ? nullptr : io::StoredTypeNamed(found->second);
}

// Bytes of an element of a storage, also of those whose values are not read; 0 for other names.
uint64_t WidthNamed(const std::string& name) {
  static const std::map<std::string_view, uint64_t> unread = {
      {"torch.ComplexFloatStorage", 8}, {"torch.ComplexDoubleStorage", 16},
      {"torch.QInt8Storage", 1},        {"torch.QUInt8Storage", 1},
      {"torch.QInt32Storage", 4},       {"torch.QUInt4x2Storage", 1},
      {"torch.QUInt2x4Storage", 1}};
  if (const io::StoredType* type = TypeNamed(name); type != nullptr) return type->bytes;
  const auto found = unread.find(name);
  return found == unread.end() ? 0 : found->second;
}

Value* Object(const Maker& maker, const std::string& name, const Value& arguments) {
  Value* object = maker.make(Kind::kObject);
  object->text = name;
  object->arguments = &arguments;
  return object;
}

std::vector<int64_t> Integers(const Maker& maker, const Value& value) {
  if (value.kind != Kind::kTuple && value.kind != Kind::kList) maker.fail("sizes that are no list");
  std::vector<int64_t> integers;
  for (const Value* item : value.items) {
    if (item->kind != Kind::kInt) maker.fail("a size that is no integer");
    integers.push_back(item->integer);
  }
  return integers;
}

// Whether a tensor's metadata, {"conj": bool, "neg": bool}, say that its signs are to be changed.
bool IsNegative(const Value& metadata) {
  const Value* negative = metadata.kind == Kind::kDict ? Find(metadata, "neg") : nullptr;
  return negative != nullptr && negative->kind == Kind::kBool && negative->integer != 0;
}

// (storage, offset, sizes, strides, requires_grad, hooks, metadata); the third form has the type
// before the metadata, which may be left out.
Value* TensorOf(const Maker& maker, const Items& arguments, bool with_type) {
  if (arguments.size() < (with_type ? 7 : 4) || arguments[0]->kind != Kind::kStorage ||
      arguments[1]->kind != Kind::kInt)
    maker.fail("a tensor without storage and offset");
  Value* tensor = maker.make(Kind::kTensor);
  tensor->items = {arguments[0]};
  tensor->integer = arguments[1]->integer;
  tensor->sizes = Integers(maker, *arguments[2]);
  tensor->strides = Integers(maker, *arguments[3]);
  tensor->type = with_type ? TypeNamed(arguments[6]->text) : arguments[0]->type;
  const size_t metadata = with_type ? 7 : 6;
  tensor->negative = arguments.size() > metadata && IsNegative(*arguments[metadata]);
  return tensor;
}

Value* ParameterOf(const Maker& maker, const Items& arguments) {
  if (arguments.empty() || arguments[0]->kind != Kind::kTensor)
    maker.fail("a parameter without a tensor");
  return arguments[0];
}

// A dict of what it is made from: a dict, a list of pairs, or nothing.
Value* DictOf(const Maker& maker, const Items& arguments) {
  Value* dict = maker.make(Kind::kDict);
  for (const Value* from : arguments) {
    if (from->kind == Kind::kDict) maker.append(dict, from->items);
    if (from->kind != Kind::kList && from->kind != Kind::kTuple) continue;
    for (const Value* pair : from->items)
      if ((pair->kind == Kind::kTuple || pair->kind == Kind::kList) && pair->items.size() == 2)
        maker.append(dict, pair->items);
      else
        maker.fail("a dictionary's item that is no pair");
  }
  return dict;
}

Value* ContainerOf(const Maker& maker, Kind kind, const Items& arguments) {
  Value* container = maker.make(kind);
  if (!arguments.empty()) maker.append(container, arguments[0]->items);
  return container;
}

// Bytes as protocol 2 spells them: a text of the characters U+0000 to U+00FF.
Value* BytesOf(const Maker& maker, const Items& arguments) {
  Value* bytes = maker.make(Kind::kBytes);
  bytes->arguments = arguments.empty() ? nullptr : arguments[0];  // not copied: texts are shared
  return bytes;
}

// The first few of them: enough for a number.
std::string Decoded(const Value& bytes) {
  constexpr size_t kMost = 32;
  if (bytes.arguments == nullptr) return bytes.text.substr(0, kMost);
  const std::string& text = bytes.arguments->text;
  std::string decoded;
  for (size_t i = 0; i < text.size() && decoded.size() < kMost; ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    if (byte >= 0xc0 && i + 1 < text.size())
      byte = static_cast<uint8_t>(byte << 6 | (static_cast<uint8_t>(text[++i]) & 0x3f));
    decoded += static_cast<char>(byte);
  }
  return decoded;
}

template <class T>
T As(const std::string& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

Value* Number(const Maker& maker, double value) {
  Value* number = maker.make(Kind::kFloat);
  number->real = value;
  return number;
}

Value* Integer(const Maker& maker, int64_t value, Kind kind = Kind::kInt) {
  Value* number = maker.make(kind);
  number->integer = value;
  return number;
}

// numpy's scalar of (dtype, bytes), where the dtype is an object made from its short name; null for
// types without a use here.
Value* NumpyScalar(const Maker& maker, const Items& arguments) {
  if (arguments.size() != 2 || arguments[0]->kind != Kind::kObject ||
      arguments[0]->arguments == nullptr || arguments[0]->arguments->items.empty() ||
      arguments[1]->kind != Kind::kBytes)
    return nullptr;
  const std::string type = arguments[0]->arguments->items[0]->text;
  const std::string bytes = Decoded(*arguments[1]);
  if (type.size() != 2 || type[1] < '1' || type[1] > '8' ||
      bytes.size() != static_cast<size_t>(type[1] - '0'))
    return nullptr;
  if (type == "f8") return Number(maker, As<double>(bytes));
  if (type == "f4") return Number(maker, As<float>(bytes));
  if (type == "i8" || type == "u8") return Integer(maker, As<int64_t>(bytes));
  if (type == "i4") return Integer(maker, As<int32_t>(bytes));
  if (type == "b1") return Integer(maker, bytes[0] != 0, Kind::kBool);
  return nullptr;
}

Value* CallNamed(const Maker& maker, const std::string& name, const Value& arguments) {
  static const Names kDicts = {"collections.OrderedDict", "collections.Counter",
                               "collections.defaultdict", "builtins.dict", "__builtin__.dict"};
  static const Names kSets = {"builtins.set", "__builtin__.set", "builtins.frozenset",
                              "__builtin__.frozenset"};
  static const Names kScalars = {"numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar"};
  const Items& items = arguments.items;
  if (name == "torch._utils._rebuild_tensor" || name == "torch._utils._rebuild_tensor_v2")
    return TensorOf(maker, items, /*with_type=*/false);
  if (name == "torch._utils._rebuild_tensor_v3") return TensorOf(maker, items, true);
  if (name == "torch._utils._rebuild_parameter" ||
      name == "torch._utils._rebuild_parameter_with_state")
    return ParameterOf(maker, items);
  if (kDicts.contains(name)) return DictOf(maker, items);
  if (kSets.contains(name)) return ContainerOf(maker, Kind::kSet, items);
  if (name == "torch.Size") return ContainerOf(maker, Kind::kTuple, items);
  if (name == "_codecs.encode") return BytesOf(maker, items);
  Value* const scalar = kScalars.contains(name) ? NumpyScalar(maker, items) : nullptr;
  return scalar != nullptr ? scalar : Object(maker, name, arguments);
}

}  // namespace

Value* Call(const Maker& maker, const Value& function, const Value& arguments) {
  // A tensor with attributes of its own: (function, class, its arguments, attributes).
  const Items& items = arguments.items;
  if (function.text == "torch._tensor._rebuild_from_type_v2" && items.size() == 4 &&
      items[0]->kind == Kind::kGlobal && items[2]->kind == Kind::kTuple)
    return CallNamed(maker, items[0]->text, *items[2]);
  return CallNamed(maker, function.text, arguments);
}

Value* StorageOf(const Maker& maker, const Value& id) {
  const Items& items = id.items;
  const bool tuple = id.kind == Kind::kTuple && items.size() >= 2 && items[0]->kind == Kind::kText;
  // A class beside its source, as torch.save once wrote for models saved whole.
  if (tuple && items[0]->text == "module") return items[1];
  if (!tuple || items.size() < 5 || items[0]->text != "storage" ||
      items[1]->kind != Kind::kGlobal || items[2]->kind != Kind::kText ||
      items[4]->kind != Kind::kInt)
    maker.fail("a reference that is no storage's");
  if (items.size() > 5 && items[5]->kind != Kind::kNone)
    maker.fail("a storage that is a view of another");
  Value* storage = maker.make(Kind::kStorage);
  storage->type = TypeNamed(items[1]->text);
  storage->width = WidthNamed(items[1]->text);
  storage->text = items[2]->text;
  storage->integer = items[4]->integer;
  return storage;
}

}  // namespace torus::pickle
