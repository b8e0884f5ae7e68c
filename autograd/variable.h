// Variable: a tensor with its place in a gradient graph. The graph hangs from its outputs: there is
// no global tape, so several micro-batches may be alive at once, on several threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

class Node;
class Variable;
struct GradRule;

namespace internal {
struct VariableState;
struct LowCopy;
void Accumulate(Variable& leaf, Tensor total);
LowCopy& LowCopyPlace(const Variable& leaf);
}  // namespace internal

// A handle; copies are the same variable. A leaf is made by a user; others come out of ops.
class Variable {
 public:
  using Hook = std::function<void(const Variable& leaf)>;

  Variable() = default;  // undefined: an optional argument left out
  // A leaf. BadInput when a gradient is asked of a dtype that is not floating.
  explicit Variable(Tensor data, bool requires_grad = false);

  // What follows throws BadInput for an undefined variable, unless it says what it answers.
  bool defined() const { return state_ != nullptr; }
  const Tensor& data() const;
  // Replaces the tensor of a leaf (same shape and dtype), as an optimizer or a checkpoint does.
  void SetData(Tensor data);
  // For changing the values of a leaf in place; writing through it bumps the version.
  Tensor& mutable_data();

  const Shape& shape() const { return data().shape(); }
  int64_t dim(int i) const { return data().dim(i); }
  int rank() const { return data().rank(); }
  int64_t numel() const { return data().numel(); }
  DType dtype() const { return data().dtype(); }

  bool requires_grad() const;  // of a leaf: asked for; of a result: some input requires it
  bool is_leaf() const;
  // Gradient accumulated by all Backward calls since the last ZeroGrad; undefined when none. Leaves
  // only.
  const Tensor& grad() const;
  Tensor& mutable_grad();
  void SetGrad(Tensor grad);
  void ZeroGrad();  // makes it undefined again: the next gradient is stored, not added

  // The same tensor without its history.
  Variable Detach() const;

  // Called, in order of adding, each time that a Backward has accumulated this leaf's gradient; on
  // the thread of that Backward. Gradient buckets use it. BadInput on a variable that is no leaf.
  void AddHook(Hook hook);

  const std::shared_ptr<Node>& node() const;  // who made it; null for a leaf
  int output_index() const;                   // which of that node's outputs
  friend bool operator==(const Variable& a, const Variable& b) { return a.state_ == b.state_; }
  const void* id() const { return state_.get(); }

 private:
  const Variable& Defined(const char* what) const;  // itself; BadInput where it is undefined
  friend void internal::Accumulate(Variable& leaf, Tensor total);
  friend internal::LowCopy& internal::LowCopyPlace(const Variable& leaf);
  friend std::vector<Variable> RecordMany(std::string_view op, std::vector<Tensor> outs,
                                          const std::vector<Variable>& inputs, GradRule rule);
  std::shared_ptr<internal::VariableState> state_;
};

struct NamedVariable {
  std::string name;
  Variable value;
};

}  // namespace torus

// In messages a variable is what Describe says of its tensor; "none" where it is undefined.
template <>
struct fmt::formatter<torus::Variable> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::Variable& variable, Context& context) const {
    const std::string text = variable.defined() ? variable.data().Describe() : "none";
    return fmt::formatter<std::string>::format(text, context);
  }
};
