#include "tests/parallel/transport/nccl/fake_nccl.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "runtime/error.h"
#include "tests/parallel/transport/nccl/launch_orders.h"

namespace torus::parallel {
namespace {

using Op = FakeNccl::Op;
using Kind = FakeNccl::Kind;
using Group = FakeNccl::Group;
using std::chrono::microseconds;

std::string NameOf(Kind kind) {
  return kind == Kind::kSend ? "send" : kind == Kind::kRecv ? "receive" : "sum";
}

int NumberOf(StreamHandle stream) { return static_cast<int>(reinterpret_cast<intptr_t>(stream)); }

// NCCL chooses by size; each is connected by itself.
std::string AlgorithmOf(const Op& op, int member) {
  if (op.kind == Kind::kSum) return op.bytes <= 4096 ? "tree" : "ring";
  return (op.kind == Kind::kSend) == (member == 0) ? "messages up" : "messages down";
}

template <class T>
void SumFromTheLast(const std::vector<Op*>& ops) {
  for (size_t i = 0; i < ops[0]->bytes / sizeof(T); ++i) {
    T sum{};
    for (size_t m = ops.size(); m-- > 0;) sum += reinterpret_cast<const T*>(ops[m]->data)[i];
    for (Op* op : ops) reinterpret_cast<T*>(op->data)[i] = sum;
  }
}

void Sum(const std::vector<Op*>& ops) {
  switch (ops[0]->dtype) {
    case DType::kF64:
      return SumFromTheLast<double>(ops);
    case DType::kF32:
      return SumFromTheLast<float>(ops);
    case DType::kI64:
      return SumFromTheLast<int64_t>(ops);
    case DType::kI32:
      return SumFromTheLast<int32_t>(ops);
    default:
      Throw<BadInput>("all-reduce", "the fake sums no {}", Name(ops[0]->dtype));
  }
}

}  // namespace

// What a stream holds when it is marked: nothing that would have to be waited for.
class FakeNccl::Marked : public NcclWork {
 public:
  explicit Marked(StreamHandle stream) : stream(stream) {}
  bool Done() override { return true; }
  void Precede(StreamHandle) override {}
  const StreamHandle stream;
};

class FakeNccl::Work : public NcclWork {
 public:
  Work(FakeNccl& fake, std::shared_ptr<Op> op) : fake_(fake), op_(std::move(op)) {}

  bool Done() override {
    const std::lock_guard lock(fake_.mutex_);
    fake_.Advance();
    return op_->done;
  }
  void Precede(StreamHandle stream) override {
    fake_.Note(fmt::format("stream {} behind a {}", NumberOf(stream), NameOf(op_->kind)));
    const std::lock_guard lock(fake_.mutex_);
    fake_.waited_for_[stream].push_back(op_);
  }

 private:
  FakeNccl& fake_;
  const std::shared_ptr<Op> op_;
};

class FakeNccl::Comm : public NcclComm {
 public:
  Comm(FakeNccl& fake, std::shared_ptr<Group> group, int member)
      : fake_(fake), group_(std::move(group)), member_(member) {}

  std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int, NcclWork& after) override {
    return fake_.Launch(
        group_, member_,
        {Kind::kSend, static_cast<char*>(const_cast<void*>(buffer.data)), buffer.bytes}, after);
  }
  std::unique_ptr<NcclWork> Recv(Buffer buffer, int, NcclWork& after) override {
    return fake_.Launch(group_, member_,
                        {Kind::kRecv, static_cast<char*>(buffer.data), buffer.bytes}, after);
  }
  std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype, NcclWork& after) override {
    return fake_.Launch(group_, member_,
                        {Kind::kSum, static_cast<char*>(buffer.data), buffer.bytes, dtype}, after);
  }
  void Check() override {
    const std::lock_guard lock(fake_.mutex_);
    if (fake_.failed_) Throw<BrokenEnvironment>("nccl", "the network has failed");
    if (!group_->error.empty()) Throw<BrokenEnvironment>("nccl", "{}", group_->error);
    if (group_->aborted.contains(member_))
      Throw<BrokenEnvironment>("nccl", "the communicator was aborted");
  }
  // The caller holds the fake's mutex.
  void End() {
    group_->aborted.insert(member_);
    for (const auto& op : group_->members[member_]) op->done = true;
    group_->members[member_].clear();
  }
  const Gpu& gpu() const { return *group_->gpus[member_]; }

 private:
  FakeNccl& fake_;
  const std::shared_ptr<Group> group_;
  const int member_;
};

void FakeNccl::Configure(const NcclSettings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
}

NcclId FakeNccl::NewId() {
  const std::lock_guard lock(mutex_);
  NcclId id{};
  std::memcpy(id.data(), &++ids_, sizeof ids_);
  return id;
}

FakeNccl::Gpu& FakeNccl::GpuOfThread() {
  std::unique_ptr<Gpu>& gpu = gpus_[std::this_thread::get_id()];
  if (gpu == nullptr) gpu = std::make_unique<Gpu>();
  return *gpu;
}

// All at once; whoever joins one by one waits in each for all its members. Joining connects the
// algorithm of a small sum, and messages in both directions.
std::vector<std::unique_ptr<NcclComm>> FakeNccl::Join(const std::vector<NcclSeat>& seats, Device,
                                                      const Patience& patience) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  std::vector<std::shared_ptr<Group>> joined;
  for (const NcclSeat& seat : seats) {
    std::shared_ptr<Group>& group = groups_[seat.id];
    if (!group) group = std::make_shared<Group>();
    group->members.resize(seat.size);
    group->gpus.resize(seat.size);
    group->launched.resize(seat.size);
    group->joined.insert(seat.member);
    group->gpus[seat.member] = &GpuOfThread();
    ++group->gpus[seat.member]->communicators;
    joined.push_back(group);
  }
  const auto all_have_come = [](const auto& group) {
    return group->joined.size() == group->members.size();
  };
  while (!std::ranges::all_of(joined, all_have_come)) {
    lock.unlock();
    patience(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::this_thread::sleep_for(microseconds(50));
    lock.lock();
  }
  std::vector<std::unique_ptr<NcclComm>> comms;
  for (size_t i = 0; i < seats.size(); ++i)
    comms.push_back(std::make_unique<Comm>(*this, joined[i], seats[i].member));
  return comms;
}

// A kernel of a communicator that is not among them blocks the call, for as long as it runs.
void FakeNccl::Abort(const std::vector<NcclComm*>& comms) noexcept {
  std::unique_lock lock(mutex_);
  std::set<const Gpu*> gpus;
  for (NcclComm* comm : comms) {
    static_cast<Comm*>(comm)->End();
    gpus.insert(&static_cast<Comm*>(comm)->gpu());
  }
  const auto spins = [&] {
    return std::ranges::any_of(gpus, [](const Gpu* gpu) {
      return std::ranges::any_of(gpu->launched,
                                 [](const auto& op) { return op->started && !op->done; });
    });
  };
  if (spins()) faults_.emplace_back("an abort blocks: a kernel of another communicator runs");
  for (int looks = 0; spins() && looks < 1000; ++looks) {
    lock.unlock();
    std::this_thread::sleep_for(microseconds(1000));
    lock.lock();
  }
}

std::unique_ptr<NcclWork> FakeNccl::Mark(Device, StreamHandle stream) {
  return std::make_unique<Marked>(stream);
}

std::unique_ptr<NcclWork> FakeNccl::Launch(const std::shared_ptr<Group>& group, int member, Op op,
                                           NcclWork& after) {
  Comm(*this, group, member).Check();
  Note(fmt::format("{} {} bytes behind stream {}", NameOf(op.kind), op.bytes,
                   NumberOf(dynamic_cast<Marked&>(after).stream)));
  std::unique_lock lock(mutex_);
  ConnectFirst(lock, *group, member, op);
  const size_t number = group->launched[member]++;
  if (number == group->instances.size()) group->instances.push_back(instances_++);
  op.instance = group->instances[number];
  auto shared = std::make_shared<Op>(op);
  group->members[member].push_back(shared);
  group->gpus[member]->launched.push_back(shared);
  group->gpus[member]->order.push_back(op.instance);
  return std::make_unique<Work>(*this, std::move(shared));
}

// The first use of an algorithm waits within the call until all members have called; no deadline
// can end that.
void FakeNccl::ConnectFirst(std::unique_lock<std::mutex>& lock, Group& group, int member,
                            const Op& op) {
  const std::string algorithm = AlgorithmOf(op, member);
  if (settings_.connects_at_once || op.kind != Kind::kSum || algorithm == "tree") return;
  std::set<int>& first = group.first[algorithm];
  if (first.size() == group.members.size()) return;
  if (first.empty())
    faults_.push_back(fmt::format("the first {} of {} bytes connects within its call",
                                  NameOf(op.kind), op.bytes));
  first.insert(member);
  while (first.size() < group.members.size() && group.aborted.empty()) {
    lock.unlock();
    std::this_thread::sleep_for(microseconds(50));
    lock.lock();
  }
}

std::unique_ptr<NcclWork> FakeNccl::Copy(Buffer to, const void* from, NcclWork& after) {
  after.Precede(to.stream);
  Note(fmt::format("copy {} bytes behind stream {}", to.bytes, NumberOf(to.stream)));
  while (!after.Done()) std::this_thread::yield();
  std::memcpy(to.data, from, to.bytes);
  auto op = std::make_shared<Op>(Op{Kind::kRecv, nullptr, to.bytes});
  op->done = true;
  return std::make_unique<Work>(*this, std::move(op));
}

std::vector<std::string> FakeNccl::calls() {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<std::string> FakeNccl::faults() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = faults_;
  std::vector<std::vector<int>> orders;
  for (const auto& [thread, gpu] : gpus_) orders.push_back(gpu->order);
  if (Contradict(orders)) all.emplace_back("GPUs launch in orders that contradict each other");
  return all;
}

std::vector<int> FakeNccl::communicators() {
  const std::lock_guard lock(mutex_);
  std::vector<int> counts;
  for (const auto& [thread, gpu] : gpus_) counts.push_back(gpu->communicators);
  std::ranges::sort(counts);
  return counts;
}

void FakeNccl::Stall() {
  const std::lock_guard lock(mutex_);
  stalled_ = true;
}

void FakeNccl::Fail() {
  const std::lock_guard lock(mutex_);
  failed_ = true;
}

void FakeNccl::Synchronize(StreamHandle stream) {
  const auto ended = [&] {
    const std::lock_guard lock(mutex_);
    Advance();
    return std::ranges::all_of(waited_for_[stream], [](const auto& op) { return op->done; });
  };
  while (!ended()) std::this_thread::sleep_for(microseconds(200));
}

void FakeNccl::Note(std::string call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
}

void FakeNccl::StartKernels(Gpu& gpu) const {
  std::erase_if(gpu.launched, [](const auto& op) { return op->done; });
  auto running = std::ranges::count_if(gpu.launched, [](const auto& op) { return op->started; });
  // Without NCCL's order it is anybody's guess which kernels start first: here the last.
  const auto start = [&](const std::shared_ptr<Op>& op) {
    if (op->started || running >= kernels_at_once_) return;
    op->started = true;
    ++running;
  };
  if (settings_.starts_in_order)
    std::ranges::for_each(gpu.launched, start);
  else
    std::for_each(gpu.launched.rbegin(), gpu.launched.rend(), start);
}

void FakeNccl::Advance() {
  for (bool moves = true; moves;) {
    moves = false;
    for (const auto& [thread, gpu] : gpus_) StartKernels(*gpu);
    if (stalled_) return;
    for (const auto& [id, group] : groups_)
      while (group->error.empty() && Meet(*group)) moves = true;
  }
}

bool FakeNccl::Meet(Group& group) {
  for (const auto& member : group.members)
    if (member.empty() || !member.front()->started) return false;
  Op &first = *group.members[0].front(), &last = *group.members.back().front();
  if (first.kind == Kind::kSum) return MeetSum(group);
  return first.kind == Kind::kSend ? MeetSend(group, first, last) : MeetSend(group, last, first);
}

bool FakeNccl::MeetSend(Group& group, Op& send, Op& recv) {
  if (send.kind != Kind::kSend || recv.kind != Kind::kRecv)
    group.error = fmt::format("a {} meets a {}", NameOf(send.kind), NameOf(recv.kind));
  else if (send.bytes != recv.bytes)
    group.error = fmt::format("{} bytes meet {}", send.bytes, recv.bytes);
  if (!group.error.empty()) return false;
  std::memcpy(recv.data, send.data, send.bytes);
  TakeFirst(group);
  return true;
}

bool FakeNccl::MeetSum(Group& group) {
  std::vector<Op*> ops;
  for (const auto& member : group.members) ops.push_back(member.front().get());
  for (const Op* op : ops)
    if (op->kind != Kind::kSum || op->bytes != ops[0]->bytes || op->dtype != ops[0]->dtype) {
      group.error = fmt::format("a sum of {} bytes meets a {} of {}", ops[0]->bytes,
                                NameOf(op->kind), op->bytes);
      return false;
    }
  Sum(ops);
  TakeFirst(group);
  return true;
}

void FakeNccl::TakeFirst(Group& group) {
  for (auto& member : group.members) {
    member.front()->done = true;
    member.pop_front();
  }
}

}  // namespace torus::parallel
