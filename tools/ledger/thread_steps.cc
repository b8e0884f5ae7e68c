#include "tools/ledger/thread_steps.h"

#include "runtime/dtype.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/error.h"
#include "tools/ledger/access_hooks.h"
#include "tools/ledger/instruction.h"

#ifdef __x86_64__

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <utility>
#include <vector>
//
#include "runtime/cuda/pack_floats.h"
#include "runtime/emulated_gpu/async_copies.h"
#include "runtime/emulated_gpu/kernel.h"
#include "runtime/emulated_gpu/tensor_core.h"

namespace torus::ledger {
namespace {

constexpr int kFirstSteps = 1500;  // each takes microseconds
// With some hundreds, the few waits of a stretch stand for many, and an attention's time is up to
// seven times another's of the same code.
constexpr int kLaterSteps = 6000;
// Until what the block wrote is seen by others, and until its number among them is known.
constexpr double kWaitsToArrive = 2;
constexpr greg_t kTrapFlag = 0x100;  // of RFLAGS: a signal after each instruction

[[gnu::noinline]] void SetTrapFlag() {
  asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}
[[gnu::noinline]] void ClearTrapFlag() {
  asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

class Follower;
Follower* following = nullptr;  // by the signal's handler

template <class F>
uintptr_t Code(F* function) {
  return reinterpret_cast<uintptr_t>(function);
}

// Functions of the emulation that stand for single instructions, and what these count as. A warp's
// product of tensor cores takes a multiprocessor four clocks, as does the loading of its operands.
std::vector<std::pair<uintptr_t, double>> EmulatedInstructions() {
  using emulated_gpu::AddProduct, emulated_gpu::Shuffle;
  constexpr double kFourClocks = 16;
  constexpr double kRounding = 1;  // two at a time, at half the rate of additions
  return {{Code(&emulated_gpu::Lane), kInteger},
          {Code(&emulated_gpu::WaitForBlock), kInteger},
          {Code(&emulated_gpu::ArrivesLast), kAccess},
          {Code(&emulated_gpu::ExchangeInWarp), kAccess},
          {Code(&Shuffle<uint32_t>), kAccess},
          {Code(&Shuffle<int>), kAccess},
          {Code(&Shuffle<uint64_t>), 2 * kAccess},
          {Code(&AddProduct<BFloat16>), kFourClocks},
          {Code(&AddProduct<Float16>), kFourClocks},
          {Code(&cuda::internal::RoundedBits<BFloat16>), kRounding},
          {Code(&cuda::internal::RoundedBits<Float16>), kRounding},
          {Code(&emulated_gpu::LoadMatrices), kFourClocks},
          {Code(&emulated_gpu::LoadTransposedMatrices), kFourClocks},
          {Code(&emulated_gpu::StartCopy16), kAccess},
          {Code(&emulated_gpu::WaitForCopies), kInteger}};
}

// What is stepped through in one go, and what runs after it without, taken to be like it.
struct Stretch {
  int steps = 0;
  double instructions = 0, waits = 0;
  double loads = 0, accesses = 0;              // stepped through
  double later_loads = 0, later_accesses = 0;  // not

  ThreadSteps Result() const {
    const auto more = [](double seen, double later) { return seen > 0 ? 1 + later / seen : 1; };
    return {instructions * more(accesses, later_accesses), waits * more(loads, later_loads)};
  }
};

// Steps through the thread's first instructions, and through some more each time that its accesses
// have doubled since.
class Follower : public AccessListener, public emulated_gpu::ThreadWatch {
 public:
  explicit Follower(int thread) : thread_(thread) {}

  void OnEnter(int thread) override {
    if (thread != thread_) return;
    ListenToAccesses(this);
    if (stepping_) SetTrapFlag();
  }
  void OnLeave(int thread) override {
    ClearTrapFlag();
    if (thread == thread_) ListenToAccesses(nullptr);
  }
  // Follows anew what comes then, from its first access on.
  void OnArrival(int thread, uint32_t) override {
    if (thread != thread_) return;
    done_.push_back(Result());
    done_.back().waits += kWaitsToArrive;
    before_ = {};
    now_ = {};
    accesses_ = next_ = 0;
    branch_ = outside_until_ = 0;
    divided_ = true;
    stepping_ = turned_ = false;
  }
  // Of those that are not stepped over.
  void OnAccess(const MemoryAccess& access) override {
    if (stepping_) return Note(access);  // of the emulation
    const bool first = accesses_ == 0;
    if (!first) {
      ++accesses_;
      ++now_.later_accesses;
      now_.later_loads += IsLoad(access);
      if (accesses_ < next_) return;
      before_ = Result();
      now_ = {};
    }
    most_ = first ? kFirstSteps : kLaterSteps;
    outside_until_ = reinterpret_cast<uintptr_t>(access.place);
    stepping_ = true;
    SetTrapFlag();
    if (first) Note(access);
  }

  // After an instruction, with the machine's state before the next.
  void Step(ucontext_t& context) {
    auto& registers = context.uc_mcontext.gregs;
    const auto code = static_cast<uintptr_t>(registers[REG_RIP]);
    if (IsOutside(registers)) return;
    Branch(code);
    if (SkipHook(registers)) return;
    const Instruction next = NextInstruction(registers);
    now_.instructions += next.weight;
    branch_ = next.branch ? code : 0;
    if (++now_.steps < most_ || now_.accesses == 0) return;
    stepping_ = false;
    next_ = 2 * accesses_;
    registers[REG_EFL] &= ~kTrapFlag;
  }

  std::vector<ThreadSteps> Results() const {
    std::vector<ThreadSteps> all = done_;
    all.push_back(Result());
    return all;
  }

 private:
  // Since the thread arrived.
  ThreadSteps Result() const {
    const ThreadSteps now = now_.Result();
    return {before_.instructions + now.instructions, before_.waits + now.waits};
  }
  static bool IsLoad(const MemoryAccess& access) { return !access.write && IsOnGpu(access); }
  static bool IsOnGpu(const MemoryAccess& access) {
    return emulated_gpu::IsReserved(reinterpret_cast<const void*>(access.address));
  }

  // Whether the next instruction is one of the emulation, which a kernel calls for what is a single
  // instruction of a GPU.
  bool IsOutside(const gregset_t& registers) {
    const auto code = static_cast<uintptr_t>(registers[REG_RIP]);
    if (outside_until_ == code) outside_until_ = 0;
    if (outside_until_ != 0) return true;
    const auto called = std::ranges::find(emulation_, code, &std::pair<uintptr_t, double>::first);
    if (called == emulation_.end()) return false;
    now_.instructions += called->second;
    outside_until_ = *reinterpret_cast<const uintptr_t*>(registers[REG_RSP]);  // its caller
    return true;
  }

  // Where a conditional branch before led to.
  void Branch(uintptr_t code) {
    if (branch_ == 0) return;
    code < branch_ ? turned_ = true : divided_ = true;
    branch_ = 0;
  }

  // Returns to the caller of a hook that is about to begin, and notes what it would tell.
  bool SkipHook(gregset_t& registers) {
    auto* const stack = reinterpret_cast<const uintptr_t*>(registers[REG_RSP]);
    const HookEntry entry = HookAt(static_cast<uintptr_t>(registers[REG_RIP]),
                                   static_cast<uintptr_t>(registers[REG_RDI]), nullptr,
                                   static_cast<size_t>(registers[REG_RSI]));
    if (!entry.hook) return false;
    registers[REG_RIP] = static_cast<greg_t>(*stack);
    registers[REG_RSP] += 8;
    if (entry.access.bytes != 0) Note(entry.access);
    return true;
  }

  void Note(const MemoryAccess& access) {
    ++accesses_;
    ++now_.accesses;
    if (!IsOnGpu(access)) return;
    if (access.write) {
      divided_ = true;
      return;
    }
    now_.waits += divided_ ? 1 : turned_ ? 0.25 : 0;
    ++now_.loads;
    divided_ = turned_ = false;
  }

  const int thread_;
  const std::vector<std::pair<uintptr_t, double>> emulation_ = EmulatedInstructions();
  bool stepping_ = true;
  int most_ = kFirstSteps;
  double accesses_ = 0, next_ = 0;  // until now, and when to step again
  Stretch now_;
  ThreadSteps before_;
  std::vector<ThreadSteps> done_;  // until each arrival
  uintptr_t branch_ = 0;           // that is being executed
  uintptr_t outside_until_ = 0;    // where what is not the kernel's code returns to; 0: in none
  bool divided_ = true;  // since the last load: a store or a branch ahead, or it is the first
  bool turned_ = false;  // since the last load: a branch back
};

void OnTrap(int, siginfo_t*, void* context) {
  if (following != nullptr) following->Step(*static_cast<ucontext_t*>(context));
}

void CatchTraps() {
  static const bool caught = [] {
    struct sigaction action {};
    action.sa_sigaction = OnTrap;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGTRAP, &action, nullptr) == 0;
  }();
  if (!caught) Throw<BrokenEnvironment>("ledger", "cannot handle SIGTRAP");
}

}  // namespace

std::vector<ThreadSteps> FollowThread(const emulated_gpu::SeenLaunch& launch, uint64_t block,
                                      int thread) {
  CatchTraps();
  Follower follower(thread);
  struct Followed {
    ~Followed() { following = nullptr; }
  } const until_the_end;  // of the block, or an error
  following = &follower;
  emulated_gpu::RunBlock(launch.op, launch.shape, block, launch.thread, &follower);
  return follower.Results();
}

}  // namespace torus::ledger

#else

namespace torus::ledger {

std::vector<ThreadSteps> FollowThread(const emulated_gpu::SeenLaunch&, uint64_t, int) {
  Throw<BrokenEnvironment>("ledger", "needs an x86-64, whose instructions it counts");
}

}  // namespace torus::ledger

#endif
