#include "models/checkpoint/state_dict.h"

#include <cstring>
#include <map>

#include "runtime/error.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/safetensors.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

// Every tensor of the model's state, sharing its memory, in our layout.
std::vector<NamedTensor> StateOf(const nn::Module& model) {
  std::vector<NamedTensor> state;
  for (const NamedVariable& parameter : model.Parameters())
    state.push_back({parameter.name, parameter.value.data()});
  for (const NamedTensor& buffer : model.Buffers()) state.push_back(buffer);
  return state;
}

// PyTorch before 0.4 had no scalars; its own reader takes these too.
bool SameShape(const Shape& wanted, const Shape& got) {
  return got == wanted || (wanted.rank() == 0 && got == Shape{1});
}

bool CastsTo(DType wanted, DType got) {
  return got == wanted || (IsFloating(got) && IsFloating(wanted));
}

std::string Difference(const Tensor& wanted, const Tensor& got) {
  const Shape shape = ToFileLayout(wanted.shape());
  if (SameShape(shape, got.shape()) && CastsTo(wanted.dtype(), got.dtype())) return {};
  return fmt::format(" is {} {} and must be {} {}", Name(got.dtype()), ToString(got.shape()),
                     Name(wanted.dtype()), ToString(shape));
}

// The first of them in words: of another model's file every tensor is one.
struct Problems {
  static constexpr int kShown = 8;
  std::string text;
  int count = 0;
  void Add(const std::string& name, const std::string& what) {
    if (++count <= kShown) text += (count == 1 ? "" : "; ") + name + what;
  }
  std::string more() const {
    return count <= kShown ? "" : fmt::format("; and {} more", count - kShown);
  }
};

// Files before PyTorch 0.4.1 have no counters; its own reader leaves them at 0 as well.
bool MayBeAbsent(const std::string& name) { return name.ends_with(".num_batches_tracked"); }

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.To(Device{}).Contiguous(), y = b.To(Device{}).Contiguous();
  return std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

// A tied tensor may have any of its names, and appear under several if they agree.
void MergeAliases(const nn::Module& model, std::map<std::string, Tensor>& given,
                  Problems& problems) {
  for (const nn::Alias& alias : model.Aliases()) {
    auto found = given.extract(alias.name);
    if (found.empty()) continue;
    const auto [owner, fresh] = given.emplace(alias.owner, found.mapped());
    if (!fresh && !SameBits(owner->second, found.mapped()))
      problems.Add(alias.name, fmt::format(" differs from {}, to which it is tied", alias.owner));
  }
}

// Replaces the model's own tensor by the one in `given`, which is removed from there.
void Replace(NamedTensor& own, std::map<std::string, Tensor>& given, Problems& problems) {
  const auto found = given.extract(own.name);
  const Shape shape = ToFileLayout(own.value.shape());
  if (found.empty()) {
    if (!MayBeAbsent(own.name)) return problems.Add(own.name, " is missing");
    own.value = Zeros(shape, own.value.dtype());
    return;
  }
  const std::string difference = Difference(own.value, found.mapped());
  if (!difference.empty()) return problems.Add(own.name, difference);
  own.value = found.mapped().Reshape(shape);
}

}  // namespace

std::vector<NamedTensor> StateDict(const nn::Module& model) {
  std::vector<NamedTensor> state = StateOf(model);
  for (NamedTensor& tensor : state) tensor.value = ToFileLayout(tensor.value.To(Device{})).Clone();
  return state;
}

std::vector<NamedTensor> FitState(const nn::Module& model, const std::vector<NamedTensor>& state,
                                  const std::string& where) {
  std::map<std::string, Tensor> given;
  Problems problems;
  for (const NamedTensor& tensor : state)
    if (!given.emplace(tensor.name, tensor.value).second) problems.Add(tensor.name, " comes twice");
  MergeAliases(model, given, problems);
  std::vector<NamedTensor> fitted = StateOf(model);
  for (NamedTensor& tensor : fitted) Replace(tensor, given, problems);
  for (const auto& [name, tensor] : given) problems.Add(name, " is surplus");
  Require(problems.count == 0, where, "does not fit the model in {} tensor{}: {}{}", problems.count,
          problems.count == 1 ? "" : "s", problems.text, problems.more());
  return fitted;
}

void LoadStateDict(nn::Module& model, const std::vector<NamedTensor>& state,
                   const std::string& where) {
  const std::vector<NamedTensor> fitted = FitState(model, state, where);
  model.Allocate();
  std::vector<NamedTensor> own = StateOf(model);
  for (size_t i = 0; i < own.size(); ++i) Copy(FromFileLayout(fitted[i].value), own[i].value);
}

void SaveModel(const nn::Module& model, const std::string& path) {
  WriteSafetensors(path, StateDict(model), {{"format", "pt"}});
}

void LoadModel(nn::Module& model, const std::string& path) {
  LoadStateDict(model, ReadSafetensors(path).tensors, path);
}

}  // namespace torus
