#include "models/checkpoint/pickle.h"

#include <bit>
#include <cstdlib>
#include <map>

#include "models/checkpoint/pickle_calls.h"
#include "runtime/error.h"
#include "runtime/io/little_endian.h"

namespace torus::pickle {
namespace {

constexpr size_t kMostValues = 1 << 20, kMostItems = 1 << 23, kLongestName = 300;

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
  uint64_t Number(uint64_t count) { return io::LittleEndian(Take(count)); }
  std::string Line() {
    const size_t end = bytes_.find('\n', at_);
    Check(end != std::string_view::npos, "a name without end");
    Check(end - at_ <= kLongestName, "a name of {} characters", end - at_);
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
  void PushText(uint64_t bytes, Kind kind = Kind::kText) {
    Value* value = New(kind);
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
    uint64_t value = io::LittleEndian(digits.substr(0, 8));
    const bool negative = !digits.empty() && (static_cast<uint8_t>(digits.back()) & 0x80) != 0;
    if (negative && digits.size() < 8) value |= ~uint64_t{0} << (8 * digits.size());
    PushInt(static_cast<int64_t>(value));
  }
  // In digits, as protocol 1 has truth values (00 and 01) and long integers.
  void PushDigits() {
    const std::string line = Line();
    if (line == "00" || line == "01") return PushBool(line == "01");
    PushInt(std::strtoll(line.c_str(), nullptr, 10));
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

  void Add(Value* container, const std::vector<Value*>& items) {
    items_ += items.size();
    Check(items_ <= kMostItems, "more than {} items", kMostItems);
    container->items.insert(container->items.end(), items.begin(), items.end());
  }
  // To a list or a set. What a class of its own does with it is not known.
  void Append(const std::vector<Value*>& items, Kind kind) {
    Value* container = Top();
    if (container->kind == Kind::kObject) return;
    Check(container->kind == kind, "adds to a value of another kind");
    Add(container, items);
  }
  // To a dict, or to an object of a class that is one.
  void SetItems(const std::vector<Value*>& items) {
    Value* container = Top();
    Check(container->kind == Kind::kDict || container->kind == Kind::kObject,
          "adds to a value of another kind");
    Check(items.size() % 2 == 0, "a key without a value");
    Add(container, items);
  }
  void SetItem() {
    Value* value = Pop();
    Value* key = Pop();
    SetItems({key, value});
  }
  // Attributes: a dict, or a pair of one and another for slots. A state_dict's _metadata, say, has
  // no use here.
  void Build() {
    const Value* state = Pop();
    Value* target = Top();
    Check(target->kind >= Kind::kText, "gives attributes to what has none");
    if (target->kind != Kind::kObject) return;
    if (state->kind == Kind::kDict) Add(target, state->items);
    for (const Value* part : state->kind == Kind::kTuple ? state->items : std::vector<Value*>())
      if (part->kind == Kind::kDict) Add(target, part->items);
  }

  void Remember(uint64_t place) { memo_[place] = Top(); }
  void Recall(uint64_t place) {
    const auto found = memo_.find(place);
    Check(found != memo_.end(), "nothing was stored at {}", place);
    Push(found->second);
  }

  Value* Global(const std::string& module, const std::string& name) {
    Value* value = New(Kind::kGlobal);
    value->text = module + "." + name;
    return value;
  }
  void PushNamedByStack() {
    const Value* name = Pop();
    const Value* module = Pop();
    Check(name->kind == Kind::kText && module->kind == Kind::kText, "a name that is no text");
    Check(name->text.size() + module->text.size() <= kLongestName, "a name of {} characters",
          name->text.size() + module->text.size());
    Push(Global(module->text, name->text));
  }

  // Functions of other values, such as those that a call returned, are called by its name.
  void Reduce() {
    const Value* arguments = Pop();
    const Value* function = Pop();
    Check((function->kind == Kind::kGlobal || function->kind == Kind::kObject) &&
              arguments->kind == Kind::kTuple,
          "calls what is no function");
    Push(Call(maker_, *function, *arguments));
  }
  // The same with keyword arguments.
  void ReduceWithKeywords() {
    Pop();
    Reduce();
  }
  // A class and its arguments, from the mark.
  void Instantiate(Value* type, std::vector<Value*> arguments) {
    Push(type);
    PushContainer(Kind::kTuple, std::move(arguments));
    Reduce();
  }
  void InstantiateFromStack() {
    std::vector<Value*> items = PopToMark();
    Check(!items.empty(), "an object without a class");
    Value* const type = items.front();
    items.erase(items.begin());
    Instantiate(type, std::move(items));
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
      case 'B':
        return PushText(Number(4), Kind::kBytes);
      case 'C':
        return PushText(Byte(), Kind::kBytes);
      case 0x8e:
      case 0x96:
        return PushText(Number(8), Kind::kBytes);
      case 'I':
      case 'L':
        return PushDigits();
      case 0x8f:
        return PushContainer(Kind::kSet, {});
      case 0x91:
        return PushContainer(Kind::kSet, PopToMark());
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
        return SetItems(PopToMark());
      case 0x90:
        return Append(PopToMark(), Kind::kSet);
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
      case '2':
        return Push(Top());
      case '1':
        PopToMark();
        return;
      case 'c': {
        const std::string module = Line();
        return Push(Global(module, Line()));
      }
      case 'i': {
        const std::string module = Line();
        Value* const type = Global(module, Line());
        return Instantiate(type, PopToMark());
      }
      case 'o':
        return InstantiateFromStack();
      case 0x93:
        return PushNamedByStack();
      case 'Q':
        return Push(StorageOf(maker_, *Pop()));
      case 'R':
      case 0x81:  // NEWOBJ: a class and its arguments
        return Reduce();
      case 0x92:
        return ReduceWithKeywords();
      case 'b':
        return Build();
      default:
        Check(false, "opcode {:#04x} is none that torch.save writes", opcode);
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
  const Maker maker_{.make = [this](Kind kind) { return New(kind); },
                     .append = [this](Value* to, const auto& items) { Add(to, items); },
                     .fail = [this](const std::string& what) { Check(false, "{}", what); }};
};

}  // namespace

const Value* Find(const Value& value, std::string_view key) {
  for (size_t i = 0; i + 1 < value.items.size(); i += 2)
    if (value.items[i]->kind == Kind::kText && value.items[i]->text == key)
      return value.items[i + 1];
  return nullptr;
}

Document Read(std::string_view bytes, const std::string& where) {
  return Machine(bytes, where).Run();
}

}  // namespace torus::pickle
