// Variable: a tensor with its place in a gradient graph. The outputs own the graph. There is no
// global tape, so several micro-batches may be in flight at once, on several threads.
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
void ShareLowCopy(const Variable& leaf, Variable& alias);

// A handle: copies refer to the same variable. Users create leaves; ops create all other variables.
class Variable {
 public:
  using Hook = std::function<void(const Variable& leaf)>;  // called with the leaf

  Variable() = default;  // undefined; means that an optional argument was left out
  // Creates a leaf. Throws BadInput if a gradient is requested for a dtype that is not floating.
  explicit Variable(Tensor data, bool requires_grad = false);

  // The members below throw BadInput on an undefined variable, unless documented otherwise.
  bool defined() const { return state_ != nullptr; }
  const Tensor& data() const;  // the values
  // Replaces the tensor of a leaf (same shape and dtype), as an optimizer or a checkpoint does.
  void SetData(Tensor data);
  // The tensor, for changing a leaf's values in place. Writing through it bumps the version.
  Tensor& mutable_data();

  const Shape& shape() const { return data().shape(); }  // of data(), as the next four
  int64_t dim(int i) const { return data().dim(i); }     // a negative i counts from the end
  int rank() const { return data().rank(); }             // dimensions
  int64_t numel() const { return data().numel(); }       // elements
  DType dtype() const { return data().dtype(); }         // of the elements

  bool requires_grad() const;  // leaf: as set by the user; result: true if an input requires it
  bool is_leaf() const;        // made by a user, not by an op
  // Gradient of a leaf, accumulated by all Backward calls since the last ZeroGrad; undefined if
  // there was none. Throws BadInput for the result of an op: a backward does not keep its gradient.
  const Tensor& grad() const;
  Tensor& mutable_grad();     // the same, to be changed in place
  void SetGrad(Tensor grad);  // replaces it; of the shape and dtype of the data
  void ZeroGrad();            // makes it undefined again: the next gradient is stored, not added

  // A leaf with the same tensor, without graph.
  Variable Detach() const;

  // Adds a function that each Backward calls after accumulating this leaf's gradient, on the thread
  // of that Backward; gradient buckets use it. Hooks run in the order in which they were added.
  // Throws BadInput unless the variable is a leaf that requires a gradient.
  void AddHook(Hook hook);

  const std::shared_ptr<Node>& node() const;  // its producer; null for a leaf and if undefined
  int output_index() const;                   // which of the producer's outputs it is
  // Whether both are the same variable.
  friend bool operator==(const Variable& a, const Variable& b) { return a.state_ == b.state_; }
  // The same for all handles of a variable; null if undefined.
  const void* id() const { return state_.get(); }

 private:
  const Variable& Defined(const char* what) const;  // returns *this; throws if undefined
  const Variable& Leaf(const char* what) const;     // returns *this; BadInput for an op's result
  friend void internal::Accumulate(Variable& leaf, Tensor total);
  friend internal::LowCopy& internal::LowCopyPlace(const Variable& leaf);
  friend void ShareLowCopy(const Variable& leaf, Variable& alias);
  friend std::vector<Variable> RecordMany(std::string_view op, std::vector<Tensor> outs,
                                          const std::vector<Variable>& inputs, GradRule rule);
  std::shared_ptr<internal::VariableState> state_;
};

// A variable and its name in a model.
struct NamedVariable {
  std::string name;  // dotted: "conv.weight"
  Variable value;    // a handle of it
};

}  // namespace torus

// Formats a variable as its tensor's Describe(), or "none" if it is undefined.
template <>
struct fmt::formatter<torus::Variable> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::Variable& variable, Context& context) const {
    const std::string text = variable.defined() ? variable.data().Describe() : "none";
    return fmt::formatter<std::string>::format(text, context);
  }
};
