#include "tools/ledger/launch_work.h"

#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "runtime/error.h"
#include "tools/ledger/thread_steps.h"

namespace torus::ledger {
namespace {

void Remove(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != text.npos; at = text.find(part))
    text.erase(at, part.size());
}

// What the sampled blocks access of a tensor, times the blocks that they stand for.
struct Share {
  TensorBytes sum;
  int blocks = 0;  // sampled ones
};
using Shares = std::map<const void*, Share>;

class Sums {
 public:
  // Adds `times` blocks like this one.
  void Add(const BlockBytes& block, double times) {
    ++blocks_;
    Add(block.read, times, read_);
    Add(block.written, times, written_);
    requested_ += block.requested * times;
  }
  void Store(Work& work) const {
    work.read = TensorsOf(read_);
    work.written = TensorsOf(written_);
    work.moved = moved_;
    work.requested = requested_;
  }

 private:
  void Add(const std::vector<TensorBytes>& from, double times, Shares& to) {
    for (const TensorBytes& tensor : from) {
      Share& share = to.try_emplace(tensor.tensor).first->second;
      share.sum.tensor = tensor.tensor;
      share.sum.size = tensor.size;
      share.sum.bytes += tensor.bytes * times;
      share.sum.moved += tensor.moved * times;
      ++share.blocks;
      moved_ += tensor.moved * times;
    }
  }

  // Blocks read a tensor's bytes again that others have read: it counts once. Where each block has
  // tensors of its own, what is sampled stands for all the others, too.
  std::vector<TensorBytes> TensorsOf(const Shares& shares) const {
    const auto own = std::ranges::count(shares, 1, [](const auto& s) { return s.second.blocks; });
    const bool apart = blocks_ > 2 && own >= blocks_ - 1;
    std::vector<TensorBytes> out;
    for (const auto& [begin, share] : shares) {
      out.push_back(share.sum);
      if (apart && share.blocks == 1) continue;
      out.back().bytes = std::min(share.sum.bytes, share.sum.size);
      out.back().moved = std::min(share.sum.moved, share.sum.size + kSectorBytes);
    }
    return out;
  }

  Shares read_, written_;
  double moved_ = 0, requested_ = 0;
  int blocks_ = 0;
};

// Not the first if there are many, since it may well differ; the last, which does, comes last.
std::vector<uint64_t> SampledBlocks(uint64_t blocks) {
  std::set<uint64_t> sampled{blocks / 6, blocks / 2, blocks * 5 / 6};
  sampled.insert(blocks - 1);
  return {sampled.begin(), sampled.end()};
}

// What the sampled blocks do until they arrive as one of a group, or then.
struct Phase {
  double group = 1;  // blocks of which one does it
  bool heard = false;
  std::vector<BlockBytes> sampled;
};

Phase PhaseOf(const std::vector<std::vector<BlockTrace>>& traces, size_t phase) {
  Phase out;
  for (const std::vector<BlockTrace>& block : traces) {
    if (block.size() <= phase) continue;
    out.group = std::max<double>(out.group, block[phase].group);
    out.heard |= block[phase].heard;
    out.sampled.push_back(CountSectors(block[phase]));
  }
  return out;
}

// Of `blocks` blocks, of which the last sampled one is the last.
Sums SumsOf(const Phase& phase, double blocks) {
  Sums sums;
  const size_t before = phase.sampled.size() - 1;
  if (blocks > 1)
    for (size_t i = 0; i < before; ++i)
      sums.Add(phase.sampled[i], (blocks - 1) / static_cast<double>(before));
  sums.Add(phase.sampled.back(), 1);
  return sums;
}

}  // namespace

std::string KernelName(const std::type_info& parameters) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(parameters.name(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? text.get() : parameters.name();
  for (const char* part :
       {"(anonymous namespace)::", "torus::", "cuda::", "ops::", "parallel::", "std::tuple<long, "})
    Remove(name, part);
  if (name.starts_with("std::tuple<")) name = name.substr(sizeof "std::tuple<" - 1);
  if (name.ends_with('>')) name.pop_back();
  while (name.ends_with(' ')) name.pop_back();
  return name;
}

std::vector<Work> WorkOf(const emulated_gpu::SeenLaunch& launch) {
  const std::vector<uint64_t> sampled = SampledBlocks(launch.shape.blocks());
  std::vector<std::vector<BlockTrace>> traces;
  for (const uint64_t block : sampled) traces.push_back(TraceBlock(launch, block));
  const int threads = launch.shape.threads();
  const std::vector<ThreadSteps> steps =
      FollowThread(launch, launch.shape.blocks() / 2, std::min(37, threads / 2));
  std::vector<Work> works;
  auto blocks = static_cast<double>(launch.shape.blocks());
  for (size_t phase = 0; phase < steps.size(); ++phase) {
    const Phase of_blocks = PhaseOf(traces, phase);
    blocks = std::ceil(blocks / of_blocks.group);
    Work work{.op = launch.op, .kernel = KernelName(launch.parameters)};
    TORUS_CHECK(of_blocks.heard || phase > 0, "{} is not instrumented", work.kernel);
    if (phase > 0) {
      work.kernel += ", last blocks";
      work.launches = 0;
    }
    SumsOf(of_blocks, blocks).Store(work);
    work.blocks = blocks;
    work.threads = blocks * threads;
    work.instructions = steps[phase].instructions * work.threads;
    work.waits = steps[phase].waits;
    works.push_back(std::move(work));
  }
  return works;
}

}  // namespace torus::ledger
