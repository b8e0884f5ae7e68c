#include "recipes/run/lora.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "autograd/node.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "recipes/model/model_of.h"
#include "recipes/run/make_optimizer.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"

namespace torus::recipes {
namespace {

constexpr char kBase[] = ".lora_base", kA[] = ".lora_A", kB[] = ".lora_B";

Variable Transposed(const Variable& matrix) { return Variable(matrix.data().Permute({1, 0})); }

Tensor Product(const Variable& left, const Variable& right) {
  return ops::Matmul(left, right).data().Contiguous();
}

// "W.lora_A-exp_avg" of the inner optimizer's "W.lora_A.exp_avg"; others as they are.
std::string Outer(std::string name) {
  const size_t dot = name.rfind('.');
  if (dot != name.npos && (name.substr(0, dot).ends_with(kA) || name.substr(0, dot).ends_with(kB)))
    name[dot] = '-';
  return name;
}

// And back.
std::string Inner(std::string name) {
  for (const char* const kind : {kA, kB})
    if (const size_t at = name.rfind(std::string(kind) + "-"); at != name.npos)
      name[at + std::string(kind).size()] = '.';
  return name;
}

}  // namespace

LoraParameters LoraParametersOf(const Settings& settings, const DataForm& form) {
  const ModelSpec spec = ModelOf(settings);
  const auto model = spec.build(spec.Config(form.classes), spec.name, {});
  const auto& layers = model->layers();
  LoraParameters trained;
  std::set<std::string> earlier;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool head = i + 1 == layers.size() && !IsLanguageModel(spec.task);
    for (const NamedVariable& parameter : layers[i].module->Parameters(layers[i].name)) {
      if (earlier.contains(parameter.name)) continue;  // tied to the embeddings
      if (head)
        trained.whole.insert(parameter.name);
      else if (i > 0 && parameter.value.rank() == 2)
        trained.adapted.insert(parameter.name);
      else
        earlier.insert(parameter.name);
    }
  }
  Require(!trained.adapted.empty(), "train",
          "--lora adapts linear layers, and --model {} has none before its head", settings.model);
  return trained;
}

LoraOptimizer::LoraOptimizer(std::vector<NamedVariable> parameters, const LoraParameters& trained,
                             int64_t rank, uint64_t seed, const MakeInner& make_inner)
    : Optimizer("lora", std::move(parameters)), seed_(seed) {
  Require(rank >= 1, "lora", "the rank must be at least 1, got {}", rank);
  std::vector<NamedVariable> inner;
  for (const NamedVariable& parameter : this->parameters()) {
    if (trained.whole.contains(parameter.name)) inner.push_back(parameter);
    if (!trained.adapted.contains(parameter.name)) continue;
    const Tensor& weight = parameter.value.data();
    TORUS_CHECK(weight.rank() == 2, "{} is no matrix", parameter.name);
    Adapted one{.name = parameter.name, .weight = parameter.value, .a = {}, .b = {}, .base = {}};
    one.a = Variable(Zeros({rank, weight.dim(1)}, weight.dtype(), weight.device()), true);
    one.b = Variable(Zeros({weight.dim(0), rank}, weight.dtype(), weight.device()), true);
    one.a.SetData(FirstA(one));
    inner.push_back({one.name + kA, one.a});
    inner.push_back({one.name + kB, one.b});
    adapted_.push_back(std::move(one));
  }
  inner_ = make_inner(std::move(inner));
}

Tensor LoraOptimizer::FirstA(const Adapted& one) const {
  Tensor a(one.a.shape(), one.a.dtype(), one.a.data().device());
  const double most = 1 / std::sqrt(static_cast<double>(a.dim(1)));
  FillUniform(a, -most, most, RandomStream({.seed = seed_, .layer = HashName(one.name.c_str())}));
  return a;
}

void LoraOptimizer::Step(double learning_rate, double gradient_scale) {
  const NoGrad no_grad;
  Gradients();  // whether they fit
  for (Adapted& one : adapted_) {
    if (!one.weight.grad().defined()) continue;
    if (!one.base.defined()) one.base = one.weight.data().Clone();
    const Variable gradient(one.weight.grad().Contiguous());
    one.a.SetGrad(Product(Transposed(one.b), gradient));
    one.b.SetGrad(Product(gradient, Transposed(one.a)));
  }
  MarkChanged();
  inner_->Step(learning_rate, gradient_scale);
  for (Adapted& one : adapted_) {
    if (!one.weight.grad().defined()) continue;
    Copy(ops::Add(Variable(one.base), ops::Matmul(one.b, one.a)).data(), one.weight.mutable_data());
    one.a.ZeroGrad();
    one.b.ZeroGrad();
  }
}

std::vector<NamedTensor> LoraOptimizer::State() const {
  std::vector<NamedTensor> state;
  for (const Adapted& one : adapted_) {
    if (!one.base.defined()) continue;
    state.push_back({one.name + kBase, one.base});
    state.push_back({one.name + kA, one.a.data()});
    state.push_back({one.name + kB, one.b.data()});
  }
  for (NamedTensor& tensor : inner_->State())
    state.push_back({Outer(tensor.name), std::move(tensor.value)});
  return state;
}

uint64_t LoraOptimizer::StateBytes() const {
  uint64_t bytes = inner_->StateBytes();
  for (const Adapted& one : adapted_)
    if (one.base.defined()) bytes += one.base.bytes() + one.a.data().bytes() + one.b.data().bytes();
  return bytes;
}

void LoraOptimizer::LoadState(const std::vector<NamedTensor>& state) {
  std::map<std::string, Tensor> own;
  std::vector<NamedTensor> inner;
  for (const NamedTensor& tensor : state) {
    const bool mine =
        tensor.name.ends_with(kBase) || tensor.name.ends_with(kA) || tensor.name.ends_with(kB);
    if (!mine)
      inner.push_back({Inner(tensor.name), tensor.value});
    else
      Require(own.emplace(tensor.name, tensor.value).second, "lora", "state {} comes twice",
              tensor.name);
  }
  const auto check = [&](const std::string& name, const Tensor& like) {
    const auto found = own.find(name);
    Require(found != own.end() && found->second.shape() == like.shape() &&
                found->second.dtype() == like.dtype(),
            "lora", "the state of a run with the same --lora must have {} as {}", name, like);
  };
  size_t used = 0;
  for (const Adapted& one : adapted_) {
    if (!own.contains(one.name + kBase)) continue;
    check(one.name + kBase, one.weight.data());
    check(one.name + kA, one.a.data());
    check(one.name + kB, one.b.data());
    used += 3;
  }
  Require(used == own.size(), "lora", "the state has tensors of other weights than the {} adapted",
          adapted_.size());
  inner_->LoadState(inner);
  for (Adapted& one : adapted_) {
    const bool begun = own.contains(one.name + kBase);
    const Device device = one.weight.data().device();
    const auto loaded = [&](const char* kind) {
      return own.at(one.name + kind).To(device).Clone();
    };
    one.base = begun ? loaded(kBase) : Tensor();
    one.a.SetData(begun ? loaded(kA) : FirstA(one));
    one.b.SetData(begun ? loaded(kB) : Zeros(one.b.shape(), one.b.dtype(), one.b.data().device()));
  }
}

LoraOptimizer::MakeInner OptimizerOf(const Settings& settings, const DataForm& form) {
  const LoraOptimizer::MakeInner make = [settings](std::vector<NamedVariable> parameters) {
    return MakeOptimizer(settings, std::move(parameters));
  };
  if (settings.lora == 0) return make;
  return [settings, make, trained = LoraParametersOf(settings, form)](
             std::vector<NamedVariable> parameters) -> std::unique_ptr<parallel::Optimizer> {
    return std::make_unique<LoraOptimizer>(std::move(parameters), trained, settings.lora,
                                           settings.seed, make);
  };
}

std::function<double(const NamedVariable&)> BytesOfOptimizerState(const Settings& s,
                                                                  const DataForm& form) {
  const auto whole = [s](int64_t elements) { return BytesOfOptimizerState(s, elements); };
  if (s.lora == 0) return [whole](const NamedVariable& p) { return whole(p.value.numel()); };
  return [whole, rank = s.lora, trained = LoraParametersOf(s, form)](const NamedVariable& p) {
    const int64_t elements = p.value.numel();
    if (!trained.adapted.contains(p.name))
      return trained.whole.contains(p.name) ? whole(elements) : 0.0;
    const int64_t narrow = rank * (p.value.dim(0) + p.value.dim(1));
    return sizeof(float) * static_cast<double>(elements + narrow) + whole(narrow);
  };
}

}  // namespace torus::recipes
