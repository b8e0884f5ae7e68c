// Node: one recorded op of a graph. Record: adds an op to the graph. Saved: a tensor kept for the
// backward.
//
// An op's gradient is a closure beside its forward:
//
//   Variable Mul(const Variable& a, const Variable& b) {
//     Tensor out = ...;
//     return Record("mul", out, {a, b}, [a = Saved(a), b = Saved(b)](const GradContext& g) {
//       return Gradients{g.wants(0) ? Product(g.grad(), b.get()) : Tensor(), ...};
//     });
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// Whether the tensor has its memory to itself, all of it, so that a sum may be written over it.
inline bool IsSole(const Tensor& tensor) {
  return tensor.is_contiguous() && tensor.storage().use_count() == 1 &&
         tensor.bytes() == tensor.storage()->bytes();
}

// The sums of gradients that a backward has so far, for the inputs of the node that it calls.
class SumsSoFar {
 public:
  virtual ~SumsSoFar() = default;
  // Gives the sum away, contiguous; undefined if there is none. Others may still refer to it.
  virtual Tensor Take(int input) = 0;
};

// The arguments of a gradient rule.
class GradContext {
 public:
  GradContext(std::span<const Tensor> grads, std::span<const char> ones,
              std::span<const char> wanted, SumsSoFar* sums = nullptr)
      : grads_(grads), ones_(ones), wanted_(wanted), sums_(sums) {}
  // Gradient of output i, contiguous but for a GradRule::OfView. Undefined if no gradient reached
  // that output, which can happen only in ops with several outputs.
  const Tensor& grad(int i = 0) const { return grads_[i]; }
  // Whether grad(i) is known to be 1 everywhere, as the default seed of a backward is. Nothing is
  // read for it.
  bool is_one(int i = 0) const { return ones_[i] != 0; }
  // Whether this call must return the gradient of input i. A backward may call the rule twice:
  // first for the activations' gradients, later for the weights'.
  bool wants(int i) const { return wanted_[i] != 0; }
  // For a rule that can add in the pass that computes: the sum of the gradients that input i, which
  // is wanted, has got from other ops. What the rule returns for i must then be its own gradient
  // plus this. With the bits of two passes, so its own gradient is rounded before; products of 16
  // bits alone round once. Undefined if there is no sum.
  Tensor TakeSum(int i) const { return sums_ == nullptr ? Tensor() : sums_->Take(i); }

 private:
  std::span<const Tensor> grads_;
  std::span<const char> ones_, wanted_;
  SumsSoFar* sums_;
};

// One gradient for each input, in order. Undefined for an input whose gradient was not wanted or is
// zero everywhere.
using Gradients = std::vector<Tensor>;

// Wraps the closure, which must be callable more than once.
struct GradRule {
  template <class F>
  GradRule(F f) : call(std::move(f)) {}  // NOLINT: converts on purpose
  // For an op that only views or copies: it takes gradients of any strides, so that none is made
  // contiguous on the way through a chain of views.
  template <class F>
  static GradRule OfView(F f) {
    GradRule rule(std::move(f));
    rule.takes_strided = true;
    return rule;
  }
  std::function<Gradients(const GradContext&)> call;  // the closure
  bool takes_strided = false;                         // set by OfView
};

// A tensor kept for the backward, with its version at the time of saving. It refers to no graph, so
// it creates no reference cycle.
class Saved {
 public:
  Saved() = default;
  explicit Saved(Tensor tensor);
  explicit Saved(const Variable& variable);  // undefined stays undefined
  // Returns the tensor. Throws BadInput if it was changed in place after saving; Node::Call adds
  // the name of the op.
  const Tensor& get() const;
  // Whether there is a tensor.
  bool defined() const { return tensor_.defined(); }

 private:
  Tensor tensor_;
  uint64_t version_ = 0;
};

// An input of a node: the node that produced the variable, or the leaf itself.
struct Edge {
  std::shared_ptr<Node> node;  // null for a leaf and for an input that needs no gradient
  int output = 0;              // which of the node's outputs
  Variable leaf;               // defined for a leaf that requires a gradient
  Shape shape;                 // of the input
  DType dtype = DType::kF32;   // likewise
  // Whether a gradient goes this way.
  bool requires_grad() const { return node != nullptr || leaf.defined(); }
};

// One recorded op: its inputs, the shapes of its outputs, and its gradient rule.
class Node {
 public:
  // As Record makes it: one shape and one dtype for each output.
  Node(std::string_view op, std::vector<Edge> inputs, std::vector<Shape> output_shapes,
       std::vector<DType> output_dtypes, GradRule rule);
  ~Node();  // not recursive: a graph may be a million ops deep

  const std::string& op() const { return op_; }                // the op's name
  uint64_t sequence() const { return sequence_; }              // order of creation in the process
  const std::vector<Edge>& inputs() const { return inputs_; }  // in the order of Record
  // Whether its rule takes gradients of any strides (GradRule::OfView).
  bool takes_strided() const { return takes_strided_; }
  // How many outputs it has, and the shape and dtype of each (output_shape, output_dtype).
  int outputs() const { return static_cast<int>(output_shapes_.size()); }
  const Shape& output_shape(int i) const { return output_shapes_[i]; }
  DType output_dtype(int i) const { return output_dtypes_[i]; }

  // Calls the rule for the inputs marked in `wanted`, and checks that each gradient has its input's
  // shape and dtype; `ones` marks the outputs whose gradient is known to be 1. Throws BadInput if
  // the rule was released.
  Gradients Call(std::span<const Tensor> grads, std::span<const char> ones,
                 std::span<const char> wanted, SumsSoFar* sums = nullptr) const;
  // Frees the closure and what it saved.
  void Release();
  bool released() const { return !rule_; }  // whether Release was called

 private:
  std::string op_;
  uint64_t sequence_;
  std::vector<Edge> inputs_;
  std::vector<Shape> output_shapes_;
  std::vector<DType> output_dtypes_;
  std::function<Gradients(const GradContext&)> rule_;
  bool takes_strided_;                 // gradients of any strides
  bool tf32_;                          // WithPrecision::Tf32() when the op ran
  std::shared_ptr<Node> next_orphan_;  // for ~Node alone
};

// Wraps an op's result in a Variable. If gradients are off, or no input requires one, the rule is
// dropped at once. Inputs may be undefined. Ticks the rank's progress.
Variable Record(std::string_view op, Tensor out, const std::vector<Variable>& inputs,
                GradRule rule);
std::vector<Variable> RecordMany(std::string_view op, std::vector<Tensor> outs,
                                 const std::vector<Variable>& inputs, GradRule rule);

// Whether Record would keep a rule for these inputs. If not, an op may skip work that only its
// backward needs.
bool NeedsGrad(const std::vector<Variable>& inputs);

// Whether gradients are recorded on this thread. The innermost NoGrad or WithGrad (with_grad.h)
// decides; without either, they are.
bool GradEnabled();
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

}  // namespace torus
