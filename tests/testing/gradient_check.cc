#include "tests/testing/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "runtime/rng.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::testing {
namespace {

Tensor Normal(const Shape& shape, uint64_t seed) {
  Tensor out(shape, DType::kF64);
  FillNormal(out, 0, 1, RandomStream({.seed = seed, .layer = HashName("gradient check")}));
  return out;
}

bool Records(const Variable& output, const std::string& op) {
  std::set<const Node*> seen;
  std::vector<const Node*> open{output.node().get()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    if (node->op() == op) return true;
    for (const Edge& input : node->inputs()) open.push_back(input.node.get());
  }
  return false;
}

std::vector<Tensor> SeedGradients(const std::vector<Variable>& outputs, uint64_t seed) {
  std::vector<Tensor> grads;
  for (const Variable& output : outputs)
    grads.push_back(Normal(output.shape(), ++seed).To(output.data().device()));
  return grads;
}

double Dot(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = ToVector<double>(a), y = ToVector<double>(b);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

double Objective(const CheckedFunction& function, const std::vector<Variable>& inputs,
                 const std::vector<Tensor>& grads) {
  const NoGrad guard;
  const std::vector<Variable> outputs = function(inputs);
  double sum = 0;
  for (size_t i = 0; i < outputs.size(); ++i) sum += Dot(outputs[i].data(), grads[i]);
  return sum;
}

// Address of row-major element i of a possibly strided f64 tensor.
double* Element(Tensor& tensor, int64_t i) {
  double* p = tensor.mutable_data<double>();
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    p += i % tensor.dim(d) * tensor.strides()[d];
    i /= tensor.dim(d);
  }
  return p;
}

Tensor NumericGradient(const CheckedFunction& function, const std::vector<Variable>& inputs,
                       size_t which, const std::vector<Tensor>& grads, double eps) {
  Tensor& x = const_cast<Variable&>(inputs[which]).mutable_data();
  Tensor out(x.shape(), DType::kF64);
  double* p = out.mutable_data<double>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double before = *Element(x, i);
    *Element(x, i) = before + eps;
    const double high = Objective(function, inputs, grads);
    *Element(x, i) = before - eps;
    const double low = Objective(function, inputs, grads);
    *Element(x, i) = before;
    p[i] = (high - low) / (2 * eps);
  }
  return out;
}

// The gradient in CPU memory. A leaf that the backward does not reach has a gradient of zero.
Tensor GradOrZero(const Variable& leaf) {
  return leaf.grad().defined() ? leaf.grad().To(Device{}).Contiguous()
                               : Zeros(leaf.shape(), leaf.dtype());
}

std::vector<Tensor> AnalyticGradients(const CheckedFunction& function, std::vector<Variable> inputs,
                                      uint64_t seed, const BackwardOptions& options) {
  for (Variable& input : inputs)
    if (input.requires_grad()) input.ZeroGrad();
  const std::vector<Variable> outputs = function(inputs);
  BackwardResult result = Backward(outputs, SeedGradients(outputs, seed), options);
  if (!result.deferred.empty()) result.deferred.Run();
  std::vector<Tensor> grads;
  for (const Variable& input : inputs)
    grads.push_back(input.requires_grad() ? GradOrZero(input) : Tensor());
  return grads;
}

void ExpectClose(const Tensor& rule, const Tensor& numeric, size_t input,
                 const GradientCheckOptions& options) {
  const std::vector<double> a = ToVector<double>(rule), n = ToVector<double>(numeric);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(std::abs(a[i] - n[i]), options.atol + options.rtol * std::abs(n[i]))
        << "input " << input << " element " << i << ": rule " << a[i] << ", central difference "
        << n[i];
}

double Largest(const std::vector<Tensor>& tensors) {
  double largest = 1;
  for (const Tensor& t : tensors)
    if (t.defined() && IsFloating(t.dtype()))
      for (double v : ToVector<double>(t.To(DType::kF64)))
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

// What a device computes from f64 inputs and output gradients: the outputs, and all defined
// gradients.
std::vector<Tensor> OutputsAndGradients(const CheckedFunction& function,
                                        const std::vector<Variable>& inputs, uint64_t seed) {
  std::vector<Tensor> results;
  for (const Variable& output : function(inputs))
    results.push_back(output.data().To(Device{}).Contiguous());
  for (const Tensor& grad : AnalyticGradients(function, inputs, seed, {}))
    if (grad.defined()) results.push_back(grad);
  return results;
}

// No sum has more terms than there are numbers. Its terms are at most as large as the largest
// number, or as a product of two.
void ExpectSameWithin(const std::vector<Tensor>& gpu, const std::vector<Tensor>& cpu,
                      const std::vector<Variable>& inputs) {
  ASSERT_EQ(gpu.size(), cpu.size());
  int64_t terms = 1;
  std::vector<Tensor> all = cpu;
  for (const Variable& input : inputs)
    if (input.defined()) all.push_back(input.data());
  for (const Tensor& t : all) terms += t.numel();
  const double bound = Tolerance(DType::kF64, terms, Largest(all) * Largest(all));
  for (size_t k = 0; k < cpu.size(); ++k) {
    ASSERT_EQ(gpu[k].Describe(), cpu[k].Describe()) << "result " << k << " on a GPU";
    const std::vector<double> a = ToVector<double>(gpu[k].To(DType::kF64));
    const std::vector<double> b = ToVector<double>(cpu[k].To(DType::kF64));
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      ASSERT_LE(std::abs(a[i] - b[i]), bound)
          << "result " << k << " element " << i << ": GPU " << a[i] << ", CPU " << b[i];
    }
  }
}

// Runs the function again on a GPU if there is one: expects the CPU's outputs and gradients, and
// the same bits in two runs.
void CheckOnGpu(const CheckedFunction& function, const std::vector<Variable>& inputs,
                uint64_t seed) {
  if (!HasGpu()) return;
  RunsOnGpu([&] {
    const std::vector<Variable> there = OnGpu(inputs);
    const std::vector<Tensor> gpu = OutputsAndGradients(function, there, seed);
    ExpectSameWithin(gpu, OutputsAndGradients(function, inputs, seed), inputs);
    const std::vector<Tensor> again = OutputsAndGradients(function, there, seed);
    for (size_t i = 0; i < gpu.size(); ++i)
      ExpectSameBits(again[i], gpu[i], "a second run on a GPU");
  });
}

// Checks the gradient of one input if it is requested alone.
void CheckAlone(const CheckedFunction& function, const std::vector<Variable>& inputs, size_t which,
                const Tensor& expected, uint64_t seed) {
  std::vector<Variable> alone = inputs;
  for (size_t i = 0; i < alone.size(); ++i)
    if (alone[i].defined()) alone[i] = Variable(inputs[i].data(), i == which);
  const std::vector<Variable> outputs = function(alone);
  bool reached = false;
  for (const Variable& output : outputs) reached |= output.requires_grad();
  if (!reached) return;
  Backward(outputs, SeedGradients(outputs, seed));
  ExpectSameBits(GradOrZero(alone[which]), expected, "asking for one input alone");
}

}  // namespace

void CheckGradients(const std::string& op, const CheckedFunction& function,
                    const std::vector<Variable>& inputs, const GradientCheckOptions& options) {
  const std::vector<Variable> outputs = function(inputs);
  ASSERT_FALSE(outputs.empty());
  bool recorded = false;
  for (const Variable& output : outputs) recorded |= Records(output, op);
  ASSERT_TRUE(recorded) << "the function records no op " << op;
  const std::vector<Tensor> seeds = SeedGradients(outputs, options.seed);
  const std::vector<Tensor> rule = AnalyticGradients(function, inputs, options.seed, {});
  const std::vector<Tensor> again = AnalyticGradients(function, inputs, options.seed, {});
  const std::vector<Tensor> deferred =
      AnalyticGradients(function, inputs, options.seed, {.defer_leaves = true});
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    ExpectSameBits(again[i], rule[i], "a second backward");
    ExpectSameBits(deferred[i], rule[i], "deferring the leaves");
    CheckAlone(function, inputs, i, rule[i], options.seed);
    ExpectClose(rule[i], NumericGradient(function, inputs, i, seeds, options.eps), i, options);
  }
  CheckOnGpu(function, inputs, options.seed);
}

Variable RandomLeaf(const Shape& shape, uint64_t seed) {
  return Variable(Normal(shape, seed), true);
}

Variable UniformLeaf(const Shape& shape, double low, double high, uint64_t seed) {
  Tensor out(shape, DType::kF64);
  FillUniform(out, low, high, RandomStream({.seed = seed, .layer = HashName("uniform leaf")}));
  return Variable(out, true);
}

Variable TransposedLeaf(const Shape& shape, uint64_t seed) {
  Shape stored = shape;
  std::swap(stored[shape.rank() - 1], stored[shape.rank() - 2]);
  return Variable(Normal(stored, seed).Transpose(-1, -2), true);
}

}  // namespace torus::testing
