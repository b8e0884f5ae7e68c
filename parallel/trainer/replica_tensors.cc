#include "parallel/trainer/replica_tensors.h"

#include <utility>

#include "parallel/optim/optimizer_state.h"
#include "parallel/trainer/parameter_table.h"
#include "parallel/trainer/tensor_slices.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

const char* const kReplicas = "round/replicas";
const char* const kPlace = "round/place";

void AddNamed(const std::string& prefix, const std::vector<NamedTensor>& tensors,
              std::vector<NamedTensor>& out) {
  for (const NamedTensor& tensor : tensors) out.push_back({prefix + tensor.name, tensor.value});
}

// The part of `all` whose names begin with `prefix`, under the rest of these names.
TensorSource Under(const std::string& prefix, const TensorSource& all) {
  TensorSource part;
  for (const auto& [name, spec] : all.specs)
    if (name.starts_with(prefix)) part.specs[name.substr(prefix.size())] = spec;
  part.read = [prefix, read = all.read](const std::string& name) { return read(prefix + name); };
  return part;
}

Tensor Scalar(int64_t value) { return FromVector(std::vector<int64_t>{value}, Shape{1}); }

int64_t ScalarIn(const TensorSource& state, const char* name) {
  const auto found = state.specs.find(name);
  if (found == state.specs.end()) return 0;
  const TensorSpec& spec = found->second;
  Require(spec.shape == Shape{1} && spec.dtype == DType::kI64, "replicas",
          "{} must be i64 [1], got {} {}", name, Name(spec.dtype), spec.shape);
  const int64_t value = state.read(name).data<int64_t>()[0];
  Require(value >= 0, "replicas", "{} must be at least 0, got {}", name, value);
  return value;
}

std::string Itself(const std::string& name) { return name; }

// Those that this stage saves, in CPU memory.
std::vector<NamedTensor> Owned(const std::vector<NamedTensor>& tensors, const Owns& owns,
                               std::string (*parameter_of)(const std::string&) = Itself) {
  std::vector<NamedTensor> owned;
  for (const NamedTensor& tensor : tensors)
    if (owns(parameter_of(tensor.name))) owned.push_back({tensor.name, tensor.value.To(Device{})});
  return owned;
}

std::vector<NamedTensor> WeightsOf(const Stage& stage) {
  std::vector<NamedTensor> weights;
  for (const NamedVariable& parameter : UniqueParameters(stage))
    weights.push_back({parameter.name, parameter.value.data()});
  return weights;
}

void AddReplica(const ReplicaOfRank& of, const StageState& state, const Owns& owns,
                const std::string& what, std::vector<NamedTensor>& out) {
  StageTensors own;
  if (state.replicas->is_apart()) own.parameters = Owned(WeightsOf(*state.stage), owns);
  if (of.replica > 0) own.optimizer = Owned(state.optimizer->State(), owns, ParameterOf);
  JoinSlices(of.tensor, of.model, own, what);
  const std::string prefix = fmt::format("replica {}/", of.replica);
  AddNamed(prefix + "weights/", own.parameters, out);
  AddNamed(prefix + "optimizer/", own.optimizer, out);
}

// Of replica 0.
void AddRound(const ReplicaOfRank& of, int stage, const StageState& state, const Owns& owns,
              const std::string& what, std::vector<NamedTensor>& out) {
  const ReplicaStrategy::Round round = state.replicas->round();
  for (const auto& [kind, tensors] :
       {std::pair("start", &round.start), std::pair("velocity", &round.velocity)}) {
    StageTensors own;
    own.parameters = Owned(*tensors, owns);
    JoinSlices(of.tensor, of.model, own, fmt::format("{}, {} of the round", what, kind));
    AddNamed(fmt::format("round/{}/", kind), own.parameters, out);
  }
  if (stage > 0) return;
  out.push_back({kPlace, Scalar(round.place)});
  out.push_back({kReplicas, Scalar(of.replicas)});
}

std::vector<NamedTensor> ReadNamed(const TensorSource& source,
                                   const std::vector<NamedVariable>& parameters) {
  std::vector<NamedTensor> tensors;
  for (const NamedVariable& parameter : parameters)
    if (source.specs.contains(parameter.name))
      tensors.push_back({parameter.name, source.read(parameter.name)});
  return tensors;
}

void SetOwnWeights(const TensorSource& weights, const StageState& state) {
  for (NamedVariable use : state.stage->Parameters())
    if (weights.specs.contains(use.name)) Copy(weights.read(use.name), use.value.mutable_data());
}

}  // namespace

std::vector<NamedTensor> ReplicaTensors(const ReplicaOfRank& of, int stage, const StageState& state,
                                        const Owns& owns, const std::string& what) {
  std::vector<NamedTensor> tensors;
  AddReplica(of, state, owns, what, tensors);
  if (of.replica == 0) AddRound(of, stage, state, owns, what, tensors);
  if (of.tensor.rank() > 0) tensors.clear();
  return tensors;
}

void SetReplicaTensors(const ReplicaOfRank& of, const TensorSource& state,
                       const std::vector<StageState>& stages) {
  if (stages.empty() || !stages.front().replicas->exchanges_weights()) return;
  const TensorSource start = SlicesOf(Under("round/start/", state), of.model),
                     velocity = SlicesOf(Under("round/velocity/", state), of.model);
  for (const StageState& stage : stages) {
    const std::vector<NamedVariable> parameters = UniqueParameters(*stage.stage);
    stage.replicas->SetRound({.place = ScalarIn(state, kPlace),
                              .start = ReadNamed(start, parameters),
                              .velocity = ReadNamed(velocity, parameters)});
  }
  if (ScalarIn(state, kReplicas) != of.replicas) return;
  const TensorSource own = Under(fmt::format("replica {}/", of.replica), state);
  const TensorSource weights = SlicesOf(Under("weights/", own), of.model);
  // Those of gossip are always apart, those of other strategies only in the middle of a round.
  for (const StageState& stage : stages)
    if (stage.replicas->is_apart()) SetOwnWeights(weights, stage);
  if (of.replica == 0) return;
  CopyOptimizer(SlicesOf(Under("optimizer/", own), of.model), of.model.weights, stages);
}

}  // namespace torus::parallel
