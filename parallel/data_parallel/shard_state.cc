#include "parallel/data_parallel/shard_state.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include "parallel/optim/optimizer_state.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

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

// A tensor of which some replicas hold a slice each, or all of them the same scalar.
struct Shard {
  std::string name;
  DType dtype = DType::kF32;
  bool sliced = false;
  std::vector<int> replicas = {};  // ascending
};

// Each shard once, from the Contents of all replicas.
std::vector<Shard> ShardsIn(const std::vector<std::vector<std::byte>>& contents) {
  std::vector<Shard> shards;
  std::map<std::string, size_t> places;
  for (size_t r = 0; r < contents.size(); ++r) {
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(contents[r].data()), contents[r].size()));
    int dtype = 0, sliced = 0;
    for (std::string name; lines >> dtype >> sliced && std::getline(lines >> std::ws, name);) {
      const auto [place, is_new] = places.try_emplace(name, shards.size());
      if (is_new) shards.push_back({name, static_cast<DType>(dtype), sliced != 0});
      shards[place->second].replicas.push_back(static_cast<int>(r));
    }
  }
  for (Shard& shard : shards)
    if (!shard.sliced) shard.replicas.resize(1);
  return shards;
}

const Tensor& Find(const std::string& name, const std::vector<NamedTensor>& own) {
  return std::ranges::find(own, name, &NamedTensor::name)->value;
}

// Returns the whole tensor on replica 0, where the slices arrive in their places.
Tensor GatherOne(Communicator& replicas, const Shard& shard, const std::vector<NamedTensor>& own,
                 const ShardSpec& spec, const std::string& what) {
  const int rank = replicas.rank();
  Tensor whole, mine;
  if (rank == 0) whole = Empty(shard.sliced ? spec.shape : Shape{}, shard.dtype);
  std::vector<Buffer> rows(replicas.size());
  for (const int r : shard.replicas) {
    if (r == rank) mine = Find(shard.name, own).Contiguous();
    Tensor place = rank == 0 && shard.sliced ? SliceOf(whole, spec.ranges[r]) : whole;
    if (rank == 0 && r == 0)
      Copy(mine, place);
    else if (rank == 0)
      rows[r] = BufferOf(place);
    else if (r == rank)
      rows[r] = BufferToRead(mine);
  }
  replicas.Gather(0, rows, fmt::format("{} of {}", what, shard.name));
  return whole;
}

}  // namespace

Tensor SliceOf(const Tensor& whole, const ElementRange& range) {
  if (IsWhole(range, whole.shape())) return whole;
  return whole.View(Shape{-1})
      .Narrow(0, range.begin, range.size())
      .View(SliceShape(whole.shape(), range.size()));
}

std::vector<NamedTensor> GatherShards(Communicator& replicas, const std::vector<NamedTensor>& own,
                                      const ShardSpecs& specs,
                                      const std::vector<std::string>& parameters,
                                      const std::string& what) {
  const std::string mine = Contents(own, specs, replicas.rank());
  std::map<std::string, std::vector<NamedTensor>> whole;  // by parameter
  for (const Shard& shard : ShardsIn(replicas.ShareBytes(std::as_bytes(std::span(mine)), what)))
    whole[specs.contains(shard.name) ? shard.name : ParameterOf(shard.name)].push_back(
        {shard.name, GatherOne(replicas, shard, own, SpecOf(shard.name, specs), what)});
  std::vector<NamedTensor> all;
  if (replicas.rank() != 0) return all;
  for (const std::string& parameter : parameters)
    for (NamedTensor& tensor : whole[parameter]) all.push_back(std::move(tensor));
  return all;
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
