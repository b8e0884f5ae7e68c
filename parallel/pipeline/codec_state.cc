#include "parallel/pipeline/codec_state.h"

#include <charconv>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

void Add(const std::string& prefix, const CodecMemory& memory, std::vector<NamedTensor>& state) {
  for (const auto& [name, values] : memory.values)
    state.push_back({prefix + name, FromVector(values, {static_cast<int64_t>(values.size())})});
  for (const auto& [name, part] : memory.parts) Add(prefix + name + "/", part, state);
}

// `name`: behind the number of the tensor, "ef/first/q 40".
void Put(const std::string& name, const Tensor& values, CodecMemory& memory) {
  const size_t slash = name.find('/');
  if (slash != std::string::npos)
    return Put(name.substr(slash + 1), values, memory.parts[name.substr(0, slash)]);
  memory.values[name] = ToVector<float>(values);
}

}  // namespace

void AddCodecState(TensorLink& link, std::vector<NamedTensor>& state) {
  for (const auto& [tensor, memory] : link.memories())
    Add(fmt::format("{}/{}/", link.MemoryName(), tensor), memory, state);
}

void TakeCodecState(const std::map<std::string, Tensor>& state, TensorLink& link) {
  link.memories().clear();
  const std::string prefix = link.MemoryName() + "/";
  for (auto at = state.lower_bound(prefix); at != state.end() && at->first.starts_with(prefix);
       ++at) {
    const std::string rest = at->first.substr(prefix.size());
    const size_t slash = rest.find('/');
    size_t tensor = 0;
    const char* const end = rest.data() + std::min(slash, rest.size());
    const auto read = std::from_chars(rest.data(), end, tensor);
    Require(slash != std::string::npos && read.ec == std::errc() && read.ptr == end &&
                at->second.dtype() == DType::kF32,
            "codec state", "{} is no memory of a codec", at->first);
    Put(rest.substr(slash + 1), at->second, link.memories()[tensor]);
  }
}

}  // namespace torus::parallel
