#include "models/checkpoint/pickle.h"

#include <bit>
#include <cstring>
#include <map>
#include <set>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::pickle {
namespace {

constexpr size_t kMostValues = 1 << 20, kMostItems = 1 << 23;

// The supported names; "calling" one makes the value in its comment.
const std::set<std::string> kRebuilders = {
    "torch._utils._rebuild_tensor",     // a tensor from storage, offset, sizes, strides
    "torch._utils._rebuild_tensor_v2",  // the same, with autograd metadata
    "torch._utils._rebuild_parameter",  // the tensor itself
    "collections.OrderedDict",          // a dict
    "torch.Size",                       // a tuple
};

const std::map<std::string, DType> kStorages = {
    {"torch.DoubleStorage", DType::kF64},    {"torch.FloatStorage", DType::kF32},
    {"torch.BFloat16Storage", DType::kBF16}, {"torch.HalfStorage", DType::kF16},
    {"torch.LongStorage", DType::kI64},      {"torch.IntStorage", DType::kI32},
    {"torch.ByteStorage", DType::kU8},       {"torch.BoolStorage", DType::kBool},
};

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Document Run() {
    while (!stopped_) Execute(Byte());
    document_.bytes = at_;
    return std::move(document_);
  }

 private:
  template <class... Args>
  void Check(bool ok, fmt::format_string<Args...> format, Args&&... args) const {
    if (!ok)
      Throw<BadInput>(where_, "pickle, byte {}: {}", at_,
                      fmt::format(format, std::forward<Args>(args)...));
  }

  // Reading.
  std::string_view Take(uint64_t count) {
    Check(count <= bytes_.size() - at_, "needs {} bytes, but {} are left", count,
          bytes_.size() - at_);
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  uint8_t Byte() { return static_cast<uint8_t>(Take(1)[0]); }
  // Little-endian, unsigned.
  uint64_t Number(int count) {
    const std::string_view bytes = Take(static_cast<uint64_t>(count));
    uint64_t value = 0;
    for (int i = 0; i < count; ++i)
      value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[static_cast<size_t>(i)]))
               << (8 * i);
    return value;
  }
  std::string Line() {
    const size_t end = bytes_.find('\n', at_);
    Check(end != std::string_view::npos, "a name without end");
    const std::string line(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return line;
  }

  // The stack. A null is a mark.
  Value* New(Kind kind) {
    Check(document_.values.size() < kMostValues, "more than {} values", kMostValues);
    document_.values.push_back(std::make_unique<Value>());
    document_.values.back()->kind = kind;
    return document_.values.back().get();
  }
  void Push(Value* value) { stack_.push_back(value); }
  Value* Top() {
    Check(!stack_.empty() && stack_.back() != nullptr, "nothing on the stack");
    return stack_.back();
  }
  Value* Pop() {
    Value* value = Top();
    stack_.pop_back();
    return value;
  }
  std::vector<Value*> PopToMark() {
    size_t begin = stack_.size();
    while (begin > 0 && stack_[begin - 1] != nullptr) --begin;
    Check(begin > 0, "no mark on the stack");
    std::vector<Value*> items(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin - 1);
    return items;
  }

  void PushInt(int64_t integer) {
    Value* value = New(Kind::kInt);
    value->integer = integer;
    Push(value);
  }
  void PushText(uint64_t bytes) {
    Value* value = New(Kind::kText);
    value->text = Take(bytes);
    Push(value);
  }
  void PushBool(bool truth) {
    Value* value = New(Kind::kBool);
    value->integer = truth;
    Push(value);
  }
  void PushFloat() {
    uint64_t bits = 0;  // big-endian
    for (const char c : Take(8)) bits = bits << 8 | static_cast<uint8_t>(c);
    Value* value = New(Kind::kFloat);
    value->real = std::bit_cast<double>(bits);
    Push(value);
  }
  // Two's complement. Integers beyond 64 bits are never sizes; for torch's magic number the low
  // bits suffice.
  void PushLong(uint64_t bytes) {
    const std::string_view digits = Take(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < digits.size() && i < 8; ++i)
      value |= static_cast<uint64_t>(static_cast<uint8_t>(digits[i])) << (8 * i);
    const bool negative = !digits.empty() && (static_cast<uint8_t>(digits.back()) & 0x80) != 0;
    if (negative && digits.size() < 8) value |= ~uint64_t{0} << (8 * digits.size());
    PushInt(static_cast<int64_t>(value));
  }
  void PushContainer(Kind kind, std::vector<Value*> items) {
    Value* value = New(kind);
    value->items = std::move(items);
    Push(value);
  }
  void PushTuple(int count) {
    std::vector<Value*> items(static_cast<size_t>(count));
    for (size_t i = items.size(); i-- > 0;) items[i] = Pop();
    PushContainer(Kind::kTuple, std::move(items));
  }

  void Append(const std::vector<Value*>& items, Kind kind) {
    Value* container = Top();
    Check(container->kind == kind, "adds to a value of another kind");
    Check(kind != Kind::kDict || items.size() % 2 == 0, "a key without a value");
    items_ += items.size();
    Check(items_ <= kMostItems, "more than {} items", kMostItems);
    container->items.insert(container->items.end(), items.begin(), items.end());
  }
  void SetItem() {
    Value* value = Pop();
    Value* key = Pop();
    Append({key, value}, Kind::kDict);
  }

  void Remember(uint64_t place) { memo_[place] = Top(); }
  void Recall(uint64_t place) {
    const auto found = memo_.find(place);
    Check(found != memo_.end(), "nothing was stored at {}", place);
    Push(found->second);
  }

  void PushGlobal(const std::string& module, const std::string& name) {
    const std::string full = module + "." + name;
    Check(kRebuilders.contains(full) || kStorages.contains(full),
          "names {}, which is no tensor's; this reader calls nothing", io::Printable(full));
    Value* value = New(Kind::kGlobal);
    value->text = full;
    Push(value);
  }
  void PushNamedByStack() {
    const Value* name = Pop();
    const Value* module = Pop();
    Check(name->kind == Kind::kText && module->kind == Kind::kText, "a name that is no text");
    PushGlobal(module->text, name->text);
  }

  // ("storage", class, key, location, elements, ...)
  void PushStorage() {
    const Value* id = Pop();
    Check(id->kind == Kind::kTuple && id->items.size() >= 5 && id->items[0]->kind == Kind::kText &&
              id->items[0]->text == "storage" && id->items[1]->kind == Kind::kGlobal &&
              kStorages.contains(id->items[1]->text) && id->items[2]->kind == Kind::kText &&
              id->items[4]->kind == Kind::kInt,
          "a reference that is no storage's");
    Check(id->items.size() == 5 || id->items[5]->kind == Kind::kNone,
          "a storage that is a view of another");
    Value* value = New(Kind::kStorage);
    value->dtype = kStorages.at(id->items[1]->text);
    value->text = id->items[2]->text;
    value->integer = id->items[4]->integer;
    Push(value);
  }

  std::vector<int64_t> Integers(const Value* value) const {
    Check(value->kind == Kind::kTuple || value->kind == Kind::kList, "sizes that are no list");
    std::vector<int64_t> integers;
    for (const Value* item : value->items) {
      Check(item->kind == Kind::kInt, "a size that is no integer");
      integers.push_back(item->integer);
    }
    return integers;
  }

  void PushTensor(const std::vector<Value*>& arguments) {
    Check(arguments.size() >= 4 && arguments[0]->kind == Kind::kStorage &&
              arguments[1]->kind == Kind::kInt,
          "a tensor without storage and offset");
    Value* value = New(Kind::kTensor);
    value->items = {arguments[0]};
    value->integer = arguments[1]->integer;
    value->sizes = Integers(arguments[2]);
    value->strides = Integers(arguments[3]);
    Push(value);
  }

  void Reduce() {
    const Value* arguments = Pop();
    const Value* function = Pop();
    Check(function->kind == Kind::kGlobal && arguments->kind == Kind::kTuple,
          "calls what is no function");
    if (function->text.starts_with("torch._utils._rebuild_tensor"))
      return PushTensor(arguments->items);
    if (function->text == "torch._utils._rebuild_parameter") {
      Check(!arguments->items.empty() && arguments->items[0]->kind == Kind::kTensor,
            "a parameter without a tensor");
      return Push(arguments->items[0]);
    }
    if (function->text == "torch.Size") {
      Check(arguments->items.size() == 1, "torch.Size of several");
      return Push(arguments->items[0]);
    }
    Check(function->text == "collections.OrderedDict", "calls {}", function->text);
    PushContainer(Kind::kDict, {});
    if (arguments->items.empty()) return;
    Check(arguments->items.size() == 1 && arguments->items[0]->kind == Kind::kList,
          "an OrderedDict of what is no list");
    for (const Value* pair : arguments->items[0]->items) {
      Check((pair->kind == Kind::kTuple || pair->kind == Kind::kList) && pair->items.size() == 2,
            "an OrderedDict's item that is no pair");
      Append(pair->items, Kind::kDict);
    }
  }

  void Stop() {
    document_.root = Pop();
    Check(stack_.empty(), "{} values are left on the stack", stack_.size());
    stopped_ = true;
  }

  void Execute(uint8_t opcode) {
    switch (opcode) {
      case 0x80:  // PROTO
        Check(Byte() <= 5, "a protocol that is not known");
        return;
      case 0x95:  // FRAME: a hint of length
        Take(8);
        return;
      case '(':
        return stack_.push_back(nullptr);
      case '.':
        return Stop();
      case '0':
        Pop();
        return;
      case 'N':
        return Push(New(Kind::kNone));
      case 0x88:
        return PushBool(true);
      case 0x89:
        return PushBool(false);
      case 'J':
        return PushInt(static_cast<int32_t>(Number(4)));
      case 'K':
        return PushInt(Byte());
      case 'M':
        return PushInt(static_cast<int64_t>(Number(2)));
      case 0x8a:
        return PushLong(Byte());
      case 0x8b:
        return PushLong(Number(4));
      case 'G':
        return PushFloat();
      case 'X':
        return PushText(Number(4));
      case 0x8c:
        return PushText(Byte());
      case 0x8d:
        return PushText(Number(8));
      case 'U':
        return PushText(Byte());
      case 'T':
        return PushText(Number(4));
      case '}':
        return PushContainer(Kind::kDict, {});
      case ']':
        return PushContainer(Kind::kList, {});
      case ')':
        return PushContainer(Kind::kTuple, {});
      case 't':
        return PushContainer(Kind::kTuple, PopToMark());
      case 'l':
        return PushContainer(Kind::kList, PopToMark());
      case 0x85:
      case 0x86:
      case 0x87:
        return PushTuple(opcode - 0x84);
      case 'a':
        return AppendOne();
      case 'e':
        return Append(PopToMark(), Kind::kList);
      case 's':
        return SetItem();
      case 'u':
        return Append(PopToMark(), Kind::kDict);
      case 'q':
        return Remember(Byte());
      case 'r':
        return Remember(Number(4));
      case 0x94:
        return Remember(memo_.size());
      case 'h':
        return Recall(Byte());
      case 'j':
        return Recall(Number(4));
      case 'c': {
        const std::string module = Line();
        return PushGlobal(module, Line());
      }
      case 0x93:
        return PushNamedByStack();
      case 'Q':
        return PushStorage();
      case 'R':
        return Reduce();
      case 'b':  // BUILD: attributes, as a state_dict's _metadata
        Pop();
        Check(Top()->kind == Kind::kDict, "gives attributes to what is no OrderedDict");
        return;
      default:
        Check(false, "opcode {:#04x} is none that tensors need", opcode);
    }
  }
  void AppendOne() {
    Value* item = Pop();
    Append({item}, Kind::kList);
  }

  std::string_view bytes_;
  const std::string& where_;
  size_t at_ = 0, items_ = 0;
  bool stopped_ = false;
  std::vector<Value*> stack_;
  std::map<uint64_t, Value*> memo_;
  Document document_;
};

}  // namespace

Document Read(std::string_view bytes, const std::string& where) {
  return Machine(bytes, where).Run();
}

}  // namespace torus::pickle
