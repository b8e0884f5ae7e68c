#include "parallel/pipeline/codec_state.h"

#include <charconv>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// `name`: the part after the tensor's number, "ef/first/q 40".
void Put(const std::string& name, const Tensor& values, CodecMemory& memory) {
  const size_t slash = name.find('/');
  if (slash != std::string::npos)
    return Put(name.substr(slash + 1), values, memory.parts[name.substr(0, slash)]);
  memory.values[name] = ToVector<float>(values);
}

}  // namespace

void AddMemory(const std::string& prefix, const CodecMemory& memory,
               std::vector<NamedTensor>& state) {
  for (const auto& [name, values] : memory.values)
    state.push_back({prefix + name, FromVector(values, {static_cast<int64_t>(values.size())})});
  for (const auto& [name, part] : memory.parts) AddMemory(prefix + name + "/", part, state);
}

CodecMemory TakeMemory(const std::map<std::string, Tensor>& state, const std::string& prefix) {
  CodecMemory memory;
  for (auto at = state.lower_bound(prefix); at != state.end() && at->first.starts_with(prefix);
       ++at) {
    Require(at->second.dtype() == DType::kF32, "codec state", "{} must be f32, got {}", at->first,
            at->second);
    Put(at->first.substr(prefix.size()), at->second, memory);
  }
  return memory;
}

void AddCodecState(TensorLink& link, std::vector<NamedTensor>& state) {
  link.codec().SyncFiles();
  for (const auto& [tensor, memory] : link.codec().memories())
    AddMemory(fmt::format("{}/{}/", link.MemoryName(), tensor), memory, state);
}

void TakeCodecState(const std::map<std::string, Tensor>& state, TensorLink& link) {
  std::map<size_t, CodecMemory> memories;
  CodecMemory all = TakeMemory(state, link.MemoryName() + "/");
  Require(all.values.empty(), "codec state", "{} names no tensor", link.MemoryName());
  for (auto& [name, memory] : all.parts) {
    size_t tensor = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, tensor);
    Require(read.ec == std::errc() && read.ptr == end, "codec state",
            "{} must have a tensor's number, got '{}'", link.MemoryName(), name);
    memories[tensor] = std::move(memory);
  }
  link.codec().SetMemories(std::move(memories));
}

}  // namespace torus::parallel
