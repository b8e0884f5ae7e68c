#include "models/checkpoint/state_dict.h"

#include <cstring>
#include <map>
#include <utility>

#include "models/checkpoint/misfit.h"
#include "runtime/error.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/json.h"
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

std::string Difference(const Tensor& wanted, const Tensor& got) {
  const Shape shape = ToFileLayout(wanted.shape());
  if (SameShape(shape, got.shape())) return {};
  return fmt::format(" is {} {} and must be {} {}", Name(got.dtype()), ToString(got.shape()),
                     Name(wanted.dtype()), ToString(shape));
}

// Files before PyTorch 0.4.1 have no counters; its own reader leaves them at 0 as well.
bool MayBeAbsent(const std::string& name) { return name.ends_with(".num_batches_tracked"); }

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.To(Device{}).Contiguous(), y = b.To(Device{}).Contiguous();
  return std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

// A tied tensor may have any of its names, and appear under several if they agree.
void MergeAliases(const nn::Module& model, std::map<std::string, Tensor>& given, Misfit& misfit) {
  for (const nn::Alias& alias : model.Aliases()) {
    auto found = given.extract(alias.name);
    if (found.empty()) continue;
    const auto [owner, fresh] = given.emplace(alias.owner, found.mapped());
    if (!fresh && !SameBits(owner->second, found.mapped()))
      misfit.Other(alias.name, fmt::format(" differs from {}, to which it is tied", alias.owner));
  }
}

// Replaces the model's own tensor by the one in `given`, which is removed from there, or by an
// undefined one where that does not fit.
void Replace(NamedTensor& own, std::map<std::string, Tensor>& given,
             const std::map<std::string, std::string>& others, Misfit& misfit) {
  const auto found = given.extract(own.name);
  const Tensor wanted = std::exchange(own.value, Tensor());
  const Shape shape = ToFileLayout(wanted.shape());
  if (found.empty()) {
    if (const auto other = others.find(own.name); other != others.end())
      return misfit.Other(own.name, fmt::format(" is {} and must be a dense tensor of real numbers",
                                                other->second));
    if (!MayBeAbsent(own.name)) return misfit.Missing(own.name);
    own.value = Zeros(shape, wanted.dtype());
    return;
  }
  const std::string difference = Difference(wanted, found.mapped());
  if (!difference.empty()) return misfit.Other(own.name, difference);
  own.value = found.mapped().Reshape(shape);
}

// The model's tensors with the values of `state`; undefined where it has none that fits.
std::vector<NamedTensor> Fit(const nn::Module& model, const std::vector<NamedTensor>& state,
                             const std::map<std::string, std::string>& others, Misfit& misfit) {
  std::map<std::string, Tensor> given;
  for (const NamedTensor& tensor : state)
    if (!given.emplace(tensor.name, tensor.value).second)
      misfit.Other(io::Printable(tensor.name).text(), " comes twice");
  MergeAliases(model, given, misfit);
  std::vector<NamedTensor> fitted = StateOf(model);
  for (NamedTensor& tensor : fitted) Replace(tensor, given, others, misfit);
  for (const auto& [name, tensor] : given) misfit.Surplus(name);
  return fitted;
}

void CopyInto(nn::Module& model, const std::vector<NamedTensor>& fitted) {
  model.Allocate();
  std::vector<NamedTensor> own = StateOf(model);
  for (size_t i = 0; i < own.size(); ++i)
    if (fitted[i].value.defined()) Copy(FromFileLayout(fitted[i].value), own[i].value);
}

}  // namespace

std::vector<NamedTensor> StateDict(const nn::Module& model) {
  std::vector<NamedTensor> state = StateOf(model);
  for (NamedTensor& tensor : state) tensor.value = ToFileLayout(tensor.value.To(Device{})).Clone();
  return state;
}

std::vector<NamedTensor> FitState(const nn::Module& model, const std::vector<NamedTensor>& state,
                                  const std::string& where,
                                  const std::map<std::string, std::string>& others) {
  Misfit misfit;
  std::vector<NamedTensor> fitted = Fit(model, state, others, misfit);
  if (misfit.count() > 0) Throw<BadInput>(where, "{}", misfit.Text());
  return fitted;
}

void LoadStateDict(nn::Module& model, const std::vector<NamedTensor>& state,
                   const std::string& where, const std::map<std::string, std::string>& others) {
  CopyInto(model, FitState(model, state, where, others));
}

StateNotes LoadMatching(nn::Module& model, const std::vector<NamedTensor>& state) {
  Misfit misfit;
  const std::vector<NamedTensor> fitted = Fit(model, state, {}, misfit), own = StateOf(model);
  for (size_t i = 0; i < own.size(); ++i)
    Require(fitted[i].value.defined() || own[i].value.device() != kMetaDevice, "state_dict",
            "{} is not loaded and would have no values: call Initialize first", own[i].name);
  CopyInto(model, fitted);
  return {misfit.missing(), misfit.surplus(), misfit.others()};
}

void SaveModel(const nn::Module& model, const std::string& path) {
  WriteSafetensors(path, StateDict(model), {{"format", "pt"}});
}

void LoadModel(nn::Module& model, const std::string& path) {
  LoadStateDict(model, ReadSafetensors(path).tensors, path);
}

}  // namespace torus
