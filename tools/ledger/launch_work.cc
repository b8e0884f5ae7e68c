#include "tools/ledger/launch_work.h"

#include <cxxabi.h>

#include <algorithm>
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

Work WorkOf(const emulated_gpu::SeenLaunch& launch) {
  const uint64_t blocks = launch.shape.blocks();
  // Not the first if there are many, since it may well differ, as the last does.
  const std::set<uint64_t> before_last{blocks / 6, blocks / 2, blocks * 5 / 6};
  Work work{.op = launch.op, .kernel = KernelName(launch.parameters)};
  Sums sums;
  bool heard = false;
  const auto count = [&](uint64_t block, double times) {
    const BlockTrace trace = TraceBlock(launch, block);
    heard |= trace.heard;
    sums.Add(CountSectors(trace), times);
  };
  std::vector<uint64_t> sampled;
  for (const uint64_t block : before_last)
    if (block + 1 < blocks) sampled.push_back(block);
  for (const uint64_t block : sampled)
    count(block, static_cast<double>(blocks - 1) / static_cast<double>(sampled.size()));
  count(blocks - 1, 1);
  TORUS_CHECK(heard, "{} is not instrumented", work.kernel);
  sums.Store(work);
  const int threads = launch.shape.threads();
  const ThreadSteps steps = FollowThread(launch, blocks / 2, std::min(37, threads / 2));
  work.blocks = static_cast<double>(blocks);
  work.threads = work.blocks * threads;
  work.instructions = steps.instructions * work.threads;
  work.waits = steps.waits;
  return work;
}

}  // namespace torus::ledger
