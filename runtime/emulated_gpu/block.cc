#include "runtime/emulated_gpu/block.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/emulated_gpu/arrivals.h"
#include "runtime/emulated_gpu/async_copies.h"
#include "runtime/emulated_gpu/fiber.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {
namespace {

enum class State : unsigned char { kReady, kAtBlock, kAtWarp, kEnded };

struct Thread {
  State state = State::kReady;
  Fiber* fiber = nullptr;  // while it waits
  std::source_location where;
  uint32_t mask = 0;
  uint64_t value = 0;
  int source = 0;
  bool vote = false;
  WarpAnswer answer;
  int emulated = 0;  // how many EmulatedCode it is in
};

bool SamePlace(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::string_view(a.file_name()) == b.file_name());
}

std::string Text(const std::source_location& where) {
  return fmt::format("{}:{}", where.file_name(), where.line());
}

uint3 Unflatten(uint64_t at, const dim3& size) {
  if (at < size.x) return {static_cast<unsigned>(at), 0, 0};  // without slow divisions
  return {static_cast<unsigned>(at % size.x), static_cast<unsigned>(at / size.x % size.y),
          static_cast<unsigned>(at / size.x / size.y)};
}

// Idle fibers of this thread, for its next grids.
thread_local std::vector<std::unique_ptr<Fiber>> spare;

// The grid that runs on this thread.
class Grid {
 public:
  Grid(const std::string& kernel, const GridShape& shape, const std::function<void()>& thread,
       bool reversed, bool whole, ThreadWatch* watch = nullptr)
      : kernel_(kernel),
        body_(thread),
        reversed_(reversed),
        whole_(whole),
        watch_(watch),
        size_(shape.threads()),
        threads_(size_),
        shared_(std::make_unique<uint64_t[]>(shape.shared_bytes / 8 + 2)),
        shared_bytes_(shape.shared_bytes),
        arrivals_(kernel) {}
  // Drops fibers that were paused when an error ended the grid; they cannot be reused.
  ~Grid() {
    for (auto& fiber : fibers_)
      if (fiber->ended()) spare.push_back(std::move(fiber));
  }

  void RunBlock();
  // The body of each fiber: runs threads that have not begun, one after another, until there are
  // none. A thread that never waits needs no fiber of its own.
  void RunFresh();
  // Makes the current thread wait in `state`.
  void Wait(State state, std::source_location where);
  // Of the current block, for one of its threads.
  void Arrive(uint32_t* counter, uint32_t blocks) {
    last_ = !whole_ || arrivals_.Add(counter, blocks);
  }
  bool arrived_last() const { return last_; }
  // All blocks have run.
  void End() const { arrivals_.End(); }

  Thread& current() { return threads_[current_]; }
  int current_number() const { return current_; }
  ThreadWatch* watch() const { return watch_; }
  void* shared() {
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(shared_.get()) + 15) / 16 * 16);
  }

 private:
  void Body(int number);
  int InOrder(int i) const { return reversed_ ? size_ - 1 - i : i; }
  void Enter(int number);
  void Resume(Fiber* fiber);
  Fiber* IdleFiber();
  void ResumeReady(int first, int threads);
  void Release();
  bool ReleaseBlock();
  bool ReleaseWarp(int first);
  bool ReleaseLanes(int first, uint32_t mask);
  [[noreturn]] void Fail();

  const std::string& kernel_;
  const std::function<void()>& body_;
  const bool reversed_;
  const bool whole_;          // not a block alone
  ThreadWatch* const watch_;  // may be null
  const int size_;
  int begun_ = 0, ended_ = 0, current_ = 0;
  int ahead_ = 0;  // the warp, in order, that goes on; those before it wait for the block or ended
  std::vector<Thread> threads_;
  std::unique_ptr<uint64_t[]> shared_;
  const size_t shared_bytes_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  Fiber* on_ = nullptr;  // the fiber that runs now
  std::exception_ptr failure_;
  Arrivals arrivals_;
  bool last_ = false;  // the block, of its group that arrived before
};

thread_local Grid* running = nullptr;

void Grid::Enter(int number) {
  current_ = number;
  threadIdx = Unflatten(number, blockDim);
}

// While it exists, a thread's body runs.
class Inside {
 public:
  Inside(ThreadWatch* watch, int thread) : watch_(watch), thread_(thread) {
    if (watch_ != nullptr) watch_->OnEnter(thread_);
  }
  ~Inside() {
    if (watch_ != nullptr) watch_->OnLeave(thread_);
  }

 private:
  ThreadWatch* const watch_;
  const int thread_;
};

void Grid::Body(int number) {
  CopiesOfThread().clear();  // of a grid that an error ended
  const Inside inside(watch_, number);
  body_();
  TORUS_CHECK(CopiesOfThread().empty(), "{}: thread {} ends before its copies to shared memory",
              kernel_, number);
}

void Grid::RunFresh() {
  while (begun_ < size_ && failure_ == nullptr) {
    const int number = InOrder(begun_++);
    Enter(number);
    try {
      Body(number);
    } catch (...) {
      failure_ = std::current_exception();
    }
    threads_[number].state = State::kEnded;
    ++ended_;
  }
}

void Grid::Wait(State state, std::source_location where) {
  Thread& thread = current();
  thread.state = state;
  thread.where = where;
  thread.fiber = on_;
  on_->Pause();
}

Fiber* Grid::IdleFiber() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }
  if (spare.empty()) spare.push_back(std::make_unique<Fiber>([] { running->RunFresh(); }));
  fibers_.push_back(std::move(spare.back()));
  spare.pop_back();
  return fibers_.back().get();
}

void Grid::Resume(Fiber* fiber) {
  on_ = fiber;
  fiber->Resume();
  if (fiber->ended()) idle_.push_back(fiber);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void Grid::RunBlock() {
  begun_ = ended_ = ahead_ = 0;
  std::fill(threads_.begin(), threads_.end(), Thread{});
  std::memset(shared(), 0xff, shared_bytes_);
  while (ended_ < size_) {
    while (begun_ < size_) Resume(IdleFiber());
    if (ended_ < size_) Release();
  }
}

// Resumes those of `threads` threads from number `first` that are ready.
void Grid::ResumeReady(int first, int threads) {
  for (int i = 0; i < threads; ++i) {
    const int number = first + (reversed_ ? threads - 1 - i : i);
    if (threads_[number].state != State::kReady) continue;
    Enter(number);
    Resume(threads_[number].fiber);
  }
}

// All threads that have begun wait or have ended. Of warps that could go on, only the first does:
// it runs ahead of the others up to the next barrier, so that a missing one shows.
void Grid::Release() {
  const int warps = (size_ + warpSize - 1) / warpSize;
  for (; ahead_ < warps; ++ahead_) {
    const int first = (reversed_ ? warps - 1 - ahead_ : ahead_) * warpSize;
    if (ReleaseWarp(first)) return ResumeReady(first, std::min(warpSize, size_ - first));
  }
  if (!ReleaseBlock()) Fail();
  ahead_ = 0;
  ResumeReady(0, size_);
}

bool Grid::ReleaseBlock() {
  for (const Thread& thread : threads_)
    if (thread.state != State::kAtBlock || !SamePlace(thread.where, threads_[0].where))
      return false;
  for (Thread& thread : threads_) thread.state = State::kReady;
  return true;
}

bool Grid::ReleaseWarp(int first) {
  bool any = false;
  for (int at = first; at < std::min(size_, first + warpSize); ++at)
    if (threads_[at].state == State::kAtWarp) any |= ReleaseLanes(first, threads_[at].mask);
  return any;
}

// Releases the lanes that wait with `mask`, in the warp that begins with thread `first`, if all of
// them are waiting.
bool Grid::ReleaseLanes(int first, uint32_t mask) {
  const int lanes = std::min(warpSize, size_ - first);
  Thread* const warp = &threads_[first];
  const Thread* before = nullptr;
  uint32_t ballot = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    const Thread& thread = warp[lane];
    if (thread.state != State::kAtWarp || thread.mask != mask) return false;
    if (before != nullptr && !SamePlace(thread.where, before->where)) return false;
    before = &thread;
    if (thread.vote) ballot |= 1u << lane;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    Thread& thread = warp[lane];
    const int from = thread.source;
    const bool there = from >= 0 && from < lanes && (mask >> from & 1u);
    thread.answer = {there ? warp[from].value : 0, ballot, there};
    thread.state = State::kReady;
  }
  return true;
}

void Grid::Fail() {
  const auto waiting = std::find_if(threads_.begin(), threads_.end(), [](const Thread& t) {
    return t.state == State::kAtBlock || t.state == State::kAtWarp;
  });
  const Thread& first = *waiting;
  const bool block = first.state == State::kAtBlock;
  const auto other = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& t) {
    return t.state != first.state || !SamePlace(t.where, first.where) ||
           (!block && t.mask != first.mask);
  });
  const auto number = [&](auto thread) { return thread - threads_.begin(); };
  const std::string rest =
      other == threads_.end() ? "lanes of its mask are missing"
      : other->state == State::kEnded
          ? fmt::format("thread {} has ended", number(other))
          : fmt::format("thread {} waits at {}", number(other), Text(other->where));
  Throw<InternalError>(kernel_,
                       "block ({}, {}, {}): not all threads reach the {} at {}, where thread {} "
                       "waits: {}",
                       blockIdx.x, blockIdx.y, blockIdx.z, block ? "barrier" : "warp's exchange",
                       Text(first.where), number(waiting), rest);
}

// While it exists, the grid is the thread's running one.
struct Running {
  explicit Running(Grid& grid) { running = &grid; }
  ~Running() { running = nullptr; }
};

Grid& Here() {
  TORUS_CHECK(running != nullptr, "only a thread of a kernel can wait for others");
  return *running;
}

}  // namespace

void RunGrid(const std::string& kernel, const GridShape& shape,
             const std::function<void()>& thread) {
  static std::atomic<uint64_t> launches{0};
  TORUS_CHECK(running == nullptr, "{} began inside of another kernel", kernel);
  const bool reversed = launches.fetch_add(1) % 2 == 1;
  Grid grid(kernel, shape, thread, reversed, true);
  const Running here(grid);
  gridDim = shape.grid;
  blockDim = shape.block;
  const uint64_t blocks = shape.blocks();
  for (uint64_t i = 0; i < blocks; ++i) {
    blockIdx = Unflatten(reversed ? blocks - 1 - i : i, shape.grid);
    grid.RunBlock();
  }
  grid.End();
}

void RunBlock(const std::string& kernel, const GridShape& shape, uint64_t block,
              const std::function<void()>& thread, ThreadWatch* watch) {
  TORUS_CHECK(running == nullptr, "{} began inside of another kernel", kernel);
  Grid grid(kernel, shape, thread, false, false, watch);
  const Running here(grid);
  gridDim = shape.grid;
  blockDim = shape.block;
  blockIdx = Unflatten(block, shape.grid);
  grid.RunBlock();
}

EmulatedCode::EmulatedCode() {
  Grid& grid = Here();
  if (grid.current().emulated++ == 0 && grid.watch() != nullptr)
    grid.watch()->OnLeave(grid.current_number());
}

EmulatedCode::~EmulatedCode() {
  Grid& grid = Here();
  if (--grid.current().emulated == 0 && grid.watch() != nullptr)
    grid.watch()->OnEnter(grid.current_number());
}

void WaitForBlock(std::source_location where) {
  const EmulatedCode emulated;
  Here().Wait(State::kAtBlock, where);
}

bool ArrivesLast(uint32_t* counter, uint32_t blocks, std::source_location where) {
  Grid& grid = Here();
  const EmulatedCode emulated;
  grid.Wait(State::kAtBlock, where);
  if (grid.current_number() == 0) grid.Arrive(counter, blocks);
  grid.Wait(State::kAtBlock, where);
  if (grid.watch() != nullptr) grid.watch()->OnArrival(grid.current_number(), blocks);
  return grid.arrived_last();
}

WarpAnswer ExchangeInWarp(uint32_t mask, uint64_t value, int source, bool vote,
                          std::source_location where) {
  Grid& grid = Here();
  const EmulatedCode emulated;
  Thread& thread = grid.current();
  TORUS_CHECK(mask >> Lane() & 1u, "{}: lane {} is not in its mask", Text(where), Lane());
  thread.mask = mask;
  thread.value = value;
  thread.source = source;
  thread.vote = vote;
  grid.Wait(State::kAtWarp, where);
  return thread.answer;
}

int Lane() { return Here().current_number() % warpSize; }

void* DynamicSharedMemory() { return Here().shared(); }

}  // namespace torus::emulated_gpu
