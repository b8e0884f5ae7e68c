#include "parallel/data_parallel/shard_state.h"

#include <cstring>
#include <sstream>
#include <utility>

#include "parallel/optim/optimizer_state.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

// Larger than those of the trainer's control messages.
constexpr Tag kTag{TagClass::kControl, (3 << 22) + 256};

Shape SliceShape(const Shape& whole, int64_t elements) {
  Dims dims;
  for (int i = 0; i < whole.rank(); ++i) dims.push_back(i == 0 ? elements : 1);
  return Shape(dims);
}

// Null if `name` is neither a parameter nor state of one.
const ShardSpec* FindSpec(const std::string& name, const ShardSpecs& specs) {
  auto found = specs.find(name);
  if (found == specs.end()) found = specs.find(ParameterOf(name));
  return found == specs.end() ? nullptr : &found->second;
}

const ShardSpec& SpecOf(const std::string& name, const ShardSpecs& specs) {
  const ShardSpec* const spec = FindSpec(name, specs);
  TORUS_CHECK(spec != nullptr, "state of no parameter of the stage");
  return *spec;
}

bool IsWhole(const ElementRange& range, const Shape& shape) { return range.size() == Numel(shape); }

Shape HeldShape(const ShardSpec& spec, int replica) {
  const ElementRange& range = spec.ranges[replica];
  return IsWhole(range, spec.shape) ? spec.shape : SliceShape(spec.shape, range.size());
}

// One line per tensor: its type, 1 for a slice or 0 for a scalar, its name.
std::string Contents(const std::vector<NamedTensor>& own, const ShardSpecs& specs, int replica) {
  std::string text;
  for (const auto& [name, value] : own)
    text += fmt::format("{} {} {}\n", static_cast<int>(value.dtype()),
                        value.shape() == HeldShape(SpecOf(name, specs), replica) ? 1 : 0, name);
  return text;
}

void SendShards(Transport& replicas, const std::vector<NamedTensor>& own, const ShardSpecs& specs,
                const std::string& what) {
  const std::string contents = Contents(own, specs, replicas.rank());
  const uint64_t size = contents.size();
  replicas.Send(0, kTag, {&size, sizeof size}, what).Wait();
  replicas.Send(0, kTag, {contents.data(), size}, what).Wait();
  for (const auto& [name, value] : own) {
    const Tensor dense = value.Contiguous();
    replicas.Send(0, kTag, {dense.raw(), dense.bytes()}, fmt::format("{} of {}", what, name))
        .Wait();
  }
}

std::vector<NamedTensor> RecvShards(Transport& replicas, int from, const ShardSpecs& specs,
                                    const std::string& what) {
  uint64_t size = 0;
  replicas.Recv(from, kTag, {&size, sizeof size}, what).Wait();
  std::string contents(size, ' ');
  replicas.Recv(from, kTag, {contents.data(), size}, what).Wait();
  std::istringstream lines(contents);
  std::vector<NamedTensor> shards;
  int dtype = 0, slice = 0;
  for (std::string name; lines >> dtype >> slice && std::getline(lines >> std::ws, name);) {
    const Shape shape = slice != 0 ? HeldShape(SpecOf(name, specs), from) : Shape{};
    Tensor value = Empty(shape, static_cast<DType>(dtype));
    replicas
        .Recv(from, kTag, {value.mutable_raw(), value.bytes()}, fmt::format("{} of {}", what, name))
        .Wait();
    shards.push_back({name, std::move(value)});
  }
  return shards;
}

// Builds whole tensors from slices.
class Assembly {
 public:
  explicit Assembly(const ShardSpecs& specs) : specs_(specs) {}

  void Add(int replica, const std::vector<NamedTensor>& shards) {
    for (const auto& [name, value] : shards) {
      const ShardSpec& spec = SpecOf(name, specs_);
      const bool slice = value.shape() == HeldShape(spec, replica);
      Tensor& whole = Find(name, slice ? spec.shape : value.shape(), value.dtype());
      Tensor place = slice ? SliceOf(whole, spec.ranges[replica]) : whole;
      Copy(value, place);
    }
  }

  std::vector<NamedTensor> InOrder(const std::vector<std::string>& parameters) {
    std::vector<NamedTensor> all;
    for (const std::string& parameter : parameters)
      for (NamedTensor& tensor : of_[parameter]) all.push_back(std::move(tensor));
    return all;
  }

 private:
  Tensor& Find(const std::string& name, const Shape& shape, DType dtype) {
    std::vector<NamedTensor>& kinds = of_[specs_.contains(name) ? name : ParameterOf(name)];
    for (NamedTensor& tensor : kinds)
      if (tensor.name == name) return tensor.value;
    return kinds.emplace_back(NamedTensor{name, Empty(shape, dtype)}).value;
  }

  const ShardSpecs& specs_;
  std::map<std::string, std::vector<NamedTensor>> of_;  // by parameter
};

}  // namespace

Tensor SliceOf(const Tensor& whole, const ElementRange& range) {
  if (IsWhole(range, whole.shape())) return whole;
  return whole.View(Shape{-1})
      .Narrow(0, range.begin, range.size())
      .View(SliceShape(whole.shape(), range.size()));
}

std::vector<NamedTensor> GatherShards(Transport& replicas, const std::vector<NamedTensor>& own,
                                      const ShardSpecs& specs,
                                      const std::vector<std::string>& parameters,
                                      const std::string& what) {
  if (replicas.rank() != 0) {
    SendShards(replicas, own, specs, what);
    return {};
  }
  Assembly assembly(specs);
  assembly.Add(0, own);
  for (int r = 1; r < replicas.size(); ++r) assembly.Add(r, RecvShards(replicas, r, specs, what));
  return assembly.InOrder(parameters);
}

std::vector<NamedTensor> TakeShards(const std::vector<NamedTensor>& whole, const ShardSpecs& specs,
                                    int replica) {
  std::vector<NamedTensor> own;
  for (const auto& [name, value] : whole) {
    const ShardSpec* const spec = FindSpec(name, specs);
    if (spec == nullptr || spec->ranges[replica].size() == 0) continue;
    const bool sliced = value.shape() == spec->shape;
    own.push_back({name, sliced ? SliceOf(value.Contiguous(), spec->ranges[replica]) : value});
  }
  return own;
}

}  // namespace torus::parallel
