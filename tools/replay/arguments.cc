#include "tools/replay/arguments.h"

#include "ops/elementwise/cast.h"
#include "tools/replay/promotion.h"

namespace torus::replay {

Arguments::Arguments(const Case& source)
    : case_(source),
      op_(source.spec.at("op").get<std::string>()),
      attrs_(op_, source.spec.value("attrs", nlohmann::json())),
      tensors_(source.Group("in.")) {}

Variable Arguments::Optional(const std::string& name) {
  if (const auto before = taken_.find(name); before != taken_.end()) return before->second;
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return {};
  return taken_[name] = Variable(found->second, case_.tensors.contains("grad_in." + name));
}

Variable Arguments::Take(const std::string& name) {
  const Variable argument = Optional(name);
  if (!argument.defined()) Throw<Unsupported>(op_, "without tensor argument {}", name);
  return argument;
}

std::vector<Variable> Arguments::TakeList(const std::string& name) {
  std::vector<Variable> list;
  while (Has(fmt::format("{}.{}", name, list.size())))
    list.push_back(Take(fmt::format("{}.{}", name, list.size())));
  if (list.empty()) Throw<Unsupported>(op_, "without tensor argument {}.0", name);
  return list;
}

std::vector<Variable> Arguments::Promoted(const std::vector<std::string>& names) {
  std::vector<Operand> operands;
  for (const std::string& name : names) {
    const Variable tensor = Optional(name);
    if (tensor.defined())
      operands.push_back({tensor, {}});
    else
      operands.push_back({{}, attrs_.OptionalNumber(name), attrs_.Raw(name).is_number_integer()});
  }
  return Promote(operands);
}

std::vector<Variable> Arguments::PromotedFloats(const std::vector<std::string>& names) {
  std::vector<Variable> promoted = Promoted(names);
  for (const Variable& operand : promoted)
    if (operand.defined() && !IsFloating(operand.dtype()))
      Throw<Unsupported>(op_, "whole numbers ({})", Name(operand.dtype()));
  return promoted;
}

Variable Arguments::TakeAsDType(const std::string& name) {
  const Variable input = Take(name);
  const std::string dtype = attrs_.Text("dtype", "");
  if (dtype.empty()) return input;
  static const std::map<std::string, DType> known{
      {"torch.float64", DType::kF64}, {"torch.double", DType::kF64}, {"torch.float32", DType::kF32},
      {"torch.float", DType::kF32},   {"torch.int64", DType::kI64},  {"torch.long", DType::kI64},
      {"torch.int32", DType::kI32},   {"torch.int", DType::kI32}};
  const auto found = known.find(dtype);
  if (found == known.end()) Throw<Unsupported>(op_, "dtype {}", dtype);
  return ops::Cast(input, found->second);
}

int64_t Arguments::IntOrTensor(const std::string& name, int64_t absent) {
  if (Has(name)) return static_cast<int64_t>(Take(name).data().Item());
  return attrs_.Int(name, absent);
}

void Arguments::Finish() const {
  attrs_.Finish();
  for (const auto& [name, tensor] : tensors_)
    if (!taken_.contains(name)) Throw<Unsupported>(op_, "tensor argument {} is not known", name);
}

}  // namespace torus::replay
