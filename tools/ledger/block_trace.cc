#include "tools/ledger/block_trace.h"

#include <unordered_map>

#include "runtime/emulated_gpu/memory.h"
#include "tools/ledger/access_hooks.h"

namespace torus::ledger {
namespace {

class Recorder : public AccessListener, public emulated_gpu::ThreadWatch {
 public:
  explicit Recorder(size_t threads) : turns_(threads), traced_(threads), arrived_(threads) {}

  void OnEnter(int thread) override {
    thread_ = static_cast<size_t>(thread);
    ListenToAccesses(this);
  }
  void OnLeave(int) override { ListenToAccesses(nullptr); }
  void OnArrival(int thread, uint32_t blocks) override {
    const size_t now = ++arrived_[static_cast<size_t>(thread)];
    traced_[static_cast<size_t>(thread)] = 0;
    if (now == traces.size()) traces.push_back({.group = blocks});
  }

  void OnAccess(const MemoryAccess& access) override {
    BlockTrace& trace = traces[arrived_[thread_]];
    trace.heard = true;
    if (!emulated_gpu::IsReserved(reinterpret_cast<const void*>(access.address))) return;
    ++trace.made;
    if (traced_[thread_] == kMostTraced) return;
    ++traced_[thread_];
    const uint32_t place =
        places_.try_emplace(access.place, static_cast<uint32_t>(places_.size())).first->second;
    std::vector<uint32_t>& turns = turns_[thread_];
    if (place >= turns.size()) turns.resize(place + 1);
    trace.accesses.push_back({access.address, place, turns[place]++, access.bytes,
                              static_cast<uint16_t>(thread_), access.write});
  }

  std::vector<BlockTrace> traces{BlockTrace()};

 private:
  size_t thread_ = 0;
  std::unordered_map<const void*, uint32_t> places_;
  std::vector<std::vector<uint32_t>> turns_;  // by thread and place
  std::vector<uint32_t> traced_;              // by thread, since it arrived
  std::vector<size_t> arrived_;               // by thread: how often
};

}  // namespace

std::vector<BlockTrace> TraceBlock(const emulated_gpu::SeenLaunch& launch, uint64_t block) {
  Recorder recorder(static_cast<size_t>(launch.shape.threads()));
  emulated_gpu::RunBlock(launch.op, launch.shape, block, launch.thread, &recorder);
  return std::move(recorder.traces);
}

}  // namespace torus::ledger
