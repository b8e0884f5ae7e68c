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

  // Tensor argument X; a leaf that requires a gradient where the case has "grad_in.X". Unsupported
  // when it is missing.
  Variable Take(const std::string& name);
  // The same, undefined when it is missing.
  Variable Optional(const std::string& name);
  // X.0, X.1, ...
  std::vector<Variable> TakeList(const std::string& name);
  bool Has(const std::string& name) const { return tensors_.contains(name); }

  // Tensor argument X in the dtype of attribute "dtype" where the case has that, as reductions and
  // softmax take it.
  Variable TakeAsDType(const std::string& name);

  // Each of `names`, a tensor or a number, in the one floating dtype that PyTorch promotes them to
  // (promotion.h); undefined for those that the case has not. Unsupported for another than a
  // floating one.
  std::vector<Variable> Promoted(const std::vector<std::string>& names);

  // An integer given as an attribute or as a tensor of one element.
  int64_t IntOrTensor(const std::string& name, int64_t absent);

  // Unsupported naming what nobody read.
  void Finish() const;

  // Everything taken, by name, as the leaves that gradients are found in.
  const std::map<std::string, Variable>& taken() const { return taken_; }

 private:
  const Case& case_;
  std::string op_;
  Attrs attrs_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Variable> taken_;
};

}  // namespace torus::replay
