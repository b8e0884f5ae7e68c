// The arguments of one operator's case, read strictly: tensors and attributes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "tools/replay/attrs.h"
#include "tools/replay/case.h"

namespace torus::replay {

class Arguments {
 public:
  // Reads `spec["attrs"]` and the tensors "in.X" of the case, which must outlive this.
  explicit Arguments(const Case& source);

  const std::string& op() const { return op_; }
  Attrs& attrs() { return attrs_; }

  // Tensor argument X; a leaf that requires a gradient where the case has "grad_in.X". Unsupported when it is missing.
  Variable Take(const std::string& name);
  // The same, undefined when it is missing. Unsupported for floating types that differ: Torus promotes none.
  Variable Optional(const std::string& name);
  // X.0, X.1, ...
  std::vector<Variable> TakeList(const std::string& name);
  bool Has(const std::string& name) const { return tensors_.contains(name); }

  // An integer given as an attribute or as a tensor of one element.
  int64_t IntOrTensor(const std::string& name, int64_t absent);

  // Unsupported naming what nobody read.
  void Finish() const;

  // Everything taken, by name, as the leaves that gradients are found in.
  const std::map<std::string, Variable>& taken() const { return taken_; }

 private:
  void RefusePromotion(const std::string& name, DType dtype);

  const Case& case_;
  std::string op_;
  Attrs attrs_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Variable> taken_;
  std::optional<DType> floating_;  // of the tensors taken so far
};

}  // namespace torus::replay
