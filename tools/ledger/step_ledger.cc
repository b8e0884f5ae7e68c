#include "tools/ledger/step_ledger.h"

#include <cstring>
#include <utility>

#include "runtime/copy_bytes.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "tools/ledger/launch_work.h"
#include "tools/ledger/library_work.h"

namespace torus::ledger {
namespace {

using emulated_gpu::SeenLaunch;

constexpr uint64_t kSmallLaunch = 1 << 15;       // threads
constexpr double kSmallWork = 1e8;               // their instructions
constexpr size_t kSmallCopy = size_t{16} << 20;  // bytes
constexpr size_t kSmallResult = 1 << 20;         // bytes

size_t WordsOf(std::string_view bytes) { return bytes.size() / sizeof(uint64_t); }

uint64_t WordAt(std::string_view bytes, size_t i) {
  uint64_t word;
  std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
  return word;
}

const void* AddressOf(uint64_t word) { return reinterpret_cast<const void*>(word); }

void Append(uint64_t word, std::string& key) {
  key.append(reinterpret_cast<const char*>(&word), sizeof word);
}

// Of an address only what it is aligned to, and which address is the first in the same tensor.
void AppendArguments(std::string_view arguments, std::string& key) {
  std::map<const char*, size_t> tensors;
  for (size_t i = 0; i < WordsOf(arguments); ++i) {
    const uint64_t word = WordAt(arguments, i);
    if (!emulated_gpu::IsReserved(AddressOf(word))) {
      Append(word, key);
      continue;
    }
    Append(word % 256, key);
    if (const auto block = emulated_gpu::BlockOf(AddressOf(word)))
      Append(tensors.try_emplace(block->begin, i).first->second, key);
  }
  key += arguments.substr(WordsOf(arguments) * sizeof(uint64_t));
}

std::string KeyOf(const SeenLaunch& launch) {
  std::string key = launch.op + '\0';
  Append(reinterpret_cast<uint64_t>(launch.kernel), key);
  for (const dim3& size : {launch.shape.grid, launch.shape.block})
    for (const unsigned extent : {size.x, size.y, size.z}) Append(extent, key);
  AppendArguments(launch.arguments, key);
  return key;
}

// The tensor in `now` that stands where `tensor` stood among the arguments `before`.
const void* Replaced(const void* tensor, double size, std::string_view before,
                     std::string_view now) {
  const auto begin = reinterpret_cast<uint64_t>(tensor);
  for (size_t i = 0; i < WordsOf(before); ++i) {
    const uint64_t word = WordAt(before, i);
    if (word < begin || static_cast<double>(word - begin) >= size) continue;
    const auto block = emulated_gpu::BlockOf(AddressOf(WordAt(now, i)));
    return block.has_value() ? block->begin : tensor;
  }
  return tensor;
}

Works Shared(std::vector<Work> works) {
  Works shared;
  for (Work& work : works) shared.push_back(std::make_shared<const Work>(std::move(work)));
  return shared;
}

// Of a launch that is not computed, so that a small result which the CPU reads does not depend on
// what lay there before.
void ClearResults(const Works& works) {
  for (const auto& work : works)
    for (const TensorBytes& tensor : work->written) {
      const auto block = emulated_gpu::BlockOf(tensor.tensor);
      if (block.has_value() && block->bytes <= kSmallResult)
        std::memset(const_cast<void*>(tensor.tensor), 0, block->bytes);
    }
}

// Whether the launch is run whole, since it may prepare what the addresses of others depend on.
bool IsSmall(const SeenLaunch& launch, const Works& works) {
  double instructions = 0;
  for (const auto& work : works) instructions += work->instructions;
  return launch.shape.blocks() * static_cast<uint64_t>(launch.shape.threads()) <= kSmallLaunch &&
         instructions <= kSmallWork;
}

}  // namespace

StepLedger::StepLedger()
    : products_([this](const cuda::SeenProduct& product, StreamHandle stream) {
        Enqueue(WorkOf(product), stream);
      }),
      graphs_([this](const cuda::Graph& graph, const cuda::EngineRules& rules,
                     cuda::GraphAddresses addresses, Device, StreamHandle stream) {
        std::optional<std::vector<Work>> works = WorkOf(graph, rules, addresses);
        if (works.has_value()) Enqueue(std::move(*works), stream);
        return works.has_value();
      }),
      observed_(*this) {}

// Work runs when someone waits for it (queues.h).
void StepLedger::Begin() {
  emulated_gpu::WaitForDevice(0);
  recording_ = true;
  recorded_.clear();
}

Works StepLedger::End() {
  emulated_gpu::WaitForDevice(0);
  recording_ = false;
  return std::move(recorded_);
}

void StepLedger::Enqueue(std::vector<Work> works, StreamHandle stream) {
  emulated_gpu::Enqueue(stream, "library", [this, shared = Shared(std::move(works))] {
    if (recording_) recorded_.insert(recorded_.end(), shared.begin(), shared.end());
  });
}

Works StepLedger::Count(const SeenLaunch& launch) {
  Counted& counted = counted_[KeyOf(launch)];
  if (counted.works.empty()) {
    counted.works = Shared(WorkOf(launch));
    counted.arguments = launch.arguments;
    return counted.works;
  }
  std::vector<Work> works;
  for (const auto& before : counted.works) {
    Work work = *before;
    for (auto* side : {&work.read, &work.written})
      for (TensorBytes& tensor : *side)
        tensor.tensor = Replaced(tensor.tensor, tensor.size, counted.arguments, launch.arguments);
    works.push_back(std::move(work));
  }
  return Shared(std::move(works));
}

void StepLedger::OnLaunch(const SeenLaunch& launch) {
  const Works works = Count(launch);
  if (recording_) recorded_.insert(recorded_.end(), works.begin(), works.end());
  if (IsSmall(launch, works))
    emulated_gpu::RunGrid(launch.op, launch.shape, launch.thread);
  else
    ClearResults(works);
}

// Kernels are in the default stream, and so are a graph's few numbers; a batch is uploaded in
// another.
void StepLedger::OnCopy(void* to, const void* from, size_t bytes, StreamHandle stream) {
  if (recording_) {
    Work work{.op = "copy", .kernel = "memcpy"};
    const auto add = [&](const void* at, std::vector<TensorBytes>& side) {
      const auto block = emulated_gpu::BlockOf(at);
      const auto moved = static_cast<double>(bytes);
      if (block.has_value())
        side.push_back({block->begin, static_cast<double>(block->bytes), moved, moved});
    };
    add(from, work.read);
    add(to, work.written);
    if (work.read.empty() || work.written.empty()) work.over_bus = static_cast<double>(bytes);
    work.beside = work.over_bus > 0 && stream != nullptr;
    work.kernel += work.read.empty() ? " HtoD" : work.written.empty() ? " DtoH" : " DtoD";
    work.moved = work.requested = work.sectors();
    recorded_.push_back(std::make_shared<const Work>(std::move(work)));
  }
  if (bytes <= kSmallCopy) CopyBytes(to, from, bytes);
}

}  // namespace torus::ledger
