#include "tools/replay/arguments.h"

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
  RefusePromotion(name, found->second.dtype());
  return taken_[name] = Variable(found->second, case_.tensors.contains("grad_in." + name));
}

void Arguments::RefusePromotion(const std::string& name, DType dtype) {
  if (!IsFloating(dtype)) return;
  if (floating_.has_value() && *floating_ != dtype)
    Throw<Unsupported>(op_, "promotion of {} {} with {}", name, Name(dtype), Name(*floating_));
  floating_ = dtype;
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
