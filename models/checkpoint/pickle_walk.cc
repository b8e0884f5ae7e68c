#include "models/checkpoint/pickle_walk.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::pickle {
namespace {

constexpr size_t kDeepest = 64, kLongestName = 1000, kMostShown = 8;
constexpr int64_t kMostValues = 1 << 20;

bool IsPlain(const Value& value) {
  return value.kind <= Kind::kBytes || value.kind == Kind::kGlobal ||
         (value.kind == Kind::kObject && value.items.empty());
}

// Shown in one line, not entered.
bool IsShown(const Value& value) {
  if (IsPlain(value) || value.kind == Kind::kSet || value.kind == Kind::kStorage) return true;
  const bool list = value.kind == Kind::kList || value.kind == Kind::kTuple;
  return list && std::ranges::all_of(value.items, [](const Value* item) { return IsPlain(*item); });
}

// A torch.nn.Module.
bool IsModule(const Value& value) {
  const Value *parameters = Find(value, "_parameters"), *modules = Find(value, "_modules");
  return value.kind == Kind::kObject && parameters != nullptr && modules != nullptr &&
         parameters->kind == Kind::kDict && modules->kind == Kind::kDict;
}

class Walker {
 public:
  Walker(const Visitor& visitor, const std::string& where) : visitor_(visitor), where_(where) {}

  void Visit(const Value& value) {
    Require(path_.size() <= kDeepest && ++visited_ <= kMostValues, where_,
            "is nested too deeply, or has too many values");
    if (value.kind == Kind::kTensor) return visitor_.on_tensor(path_, value);
    if (IsShown(value)) return visitor_.on_other(path_, value);
    if (std::ranges::find(open_, &value) != open_.end()) return;
    open_.push_back(&value);
    if (IsModule(value))
      Module(value);
    else if (value.kind == Kind::kDict || value.kind == Kind::kObject)
      Dict(value);
    else
      for (size_t i = 0; i < value.items.size(); ++i) Child(std::to_string(i), *value.items[i]);
    open_.pop_back();
  }

 private:
  void Child(const std::string& key, const Value& value) {
    length_ += key.size() + 1;
    Require(length_ <= kLongestName, where_, "has a name of {} characters", length_);
    path_.push_back(key);
    Visit(value);
    path_.pop_back();
    length_ -= key.size() + 1;
  }
  void Dict(const Value& value, const std::set<std::string>& without = {}) {
    for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const Value& key = *value.items[i];
      const std::string name = key.kind == Kind::kText ? key.text : Text(key);
      if (!without.contains(name)) Child(name, *value.items[i + 1]);
    }
  }
  void Module(const Value& value) {
    std::set<std::string> not_saved;
    if (const Value* names = Find(value, "_non_persistent_buffers_set"))
      for (const Value* name : names->items) not_saved.insert(name->text);
    Dict(*Find(value, "_parameters"));
    const Value* buffers = Find(value, "_buffers");
    if (buffers != nullptr && buffers->kind == Kind::kDict) Dict(*buffers, not_saved);
    Dict(*Find(value, "_modules"));
  }

  const Visitor& visitor_;
  const std::string& where_;
  Path path_;
  std::vector<const Value*> open_;  // the containers that the path leads through
  size_t length_ = 0;
  int64_t visited_ = 0;
};

std::string Quoted(const std::string& text) {
  const std::string shown = io::Printable(text).text();
  return shown == text ? fmt::format("\"{}\"", text) : shown;
}

// Of bytes that are spelled as a text each character is one.
size_t BytesIn(const Value& bytes) {
  if (bytes.arguments == nullptr) return bytes.text.size();
  return static_cast<size_t>(std::ranges::count_if(
      bytes.arguments->text, [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

std::string TextOf(const Value& value, int depth) {
  if (value.items.size() > kMostShown || depth > 2)
    return fmt::format("({} items)", value.items.size());
  std::vector<std::string> items;
  for (const Value* item : value.items) items.push_back(TextOf(*item, depth + 1));
  const std::string all = fmt::format("{}", fmt::join(items, ", "));
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
      return Quoted(value.text);
    case Kind::kBytes:
      return fmt::format("({} bytes)", BytesIn(value));
    case Kind::kList:
      return "[" + all + "]";
    case Kind::kTuple:
      return "(" + all + ")";
    case Kind::kSet:
      return "{" + all + "}";
    case Kind::kGlobal:
      return io::Printable(value.text).text();
    case Kind::kObject:
      return io::Printable(value.text).text() +
             (value.arguments == nullptr ? "()" : TextOf(*value.arguments, depth + 1));
    case Kind::kTensor:
      return "a tensor";
    default:
      return fmt::format("({} items)", value.items.size());
  }
}

}  // namespace

void Walk(const Value& root, const Visitor& visitor, const std::string& where) {
  Walker(visitor, where).Visit(root);
}

std::string Joined(const Path& path) { return fmt::format("{}", fmt::join(path, ".")); }

std::string Text(const Value& value) { return TextOf(value, 0); }

}  // namespace torus::pickle
