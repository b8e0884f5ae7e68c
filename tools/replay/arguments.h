// The arguments of an operator's case, tensors and attributes, read strictly: an argument that
// nobody reads is an error.
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

  // Tensor argument X, as a leaf that requires a gradient if the case has "grad_in.X". Throws
  // Unsupported if it is missing.
  Variable Take(const std::string& name);
  // The same, but undefined if it is missing.
  Variable Optional(const std::string& name);
  // X.0, X.1, ...
  std::vector<Variable> TakeList(const std::string& name);
  bool Has(const std::string& name) const { return tensors_.contains(name); }

  // Tensor argument X, cast to the attribute "dtype" if the case has one, as reductions and softmax
  // do.
  Variable TakeAsDType(const std::string& name);

  // Each of `names`, a tensor or a number, in the dtype that PyTorch promotes them all to
  // (promotion.h); undefined for those that the case does not have.
  std::vector<Variable> Promoted(const std::vector<std::string>& names);
  // The same. Throws Unsupported if that dtype is not a floating-point one.
  std::vector<Variable> PromotedFloats(const std::vector<std::string>& names);

  // An integer, given as an attribute or as a tensor of one element.
  int64_t IntOrTensor(const std::string& name, int64_t absent);

  // Throws Unsupported, naming the arguments that were not read, if there are any.
  void Finish() const;

  // All tensors that were taken, by name. They are the leaves that hold the gradients.
  const std::map<std::string, Variable>& taken() const { return taken_; }

 private:
  const Case& case_;
  std::string op_;
  Attrs attrs_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Variable> taken_;
};

}  // namespace torus::replay
