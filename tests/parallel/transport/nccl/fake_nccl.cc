#include "tests/parallel/transport/nccl/fake_nccl.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Op = FakeNccl::Op;
using Kind = FakeNccl::Kind;

std::string NameOf(Kind kind) {
  return kind == Kind::kSend ? "send" : kind == Kind::kRecv ? "receive" : "sum";
}

int NumberOf(StreamHandle stream) { return static_cast<int>(reinterpret_cast<intptr_t>(stream)); }

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

class FakeNccl::Work : public NcclWork {
 public:
  Work(FakeNccl& fake, std::shared_ptr<Group> group, std::shared_ptr<Op> op)
      : fake_(fake), group_(std::move(group)), op_(std::move(op)) {}

  bool Done() override {
    const std::lock_guard lock(fake_.mutex_);
    if (group_) fake_.Advance(*group_);
    return op_->done;
  }
  void Precede(StreamHandle stream) override {
    fake_.Note(fmt::format("stream {} behind a {}", NumberOf(stream), NameOf(op_->kind)));
    const std::lock_guard lock(fake_.mutex_);
    fake_.waited_for_[stream].push_back(op_);
  }

 private:
  FakeNccl& fake_;
  const std::shared_ptr<Group> group_;
  const std::shared_ptr<Op> op_;
};

class FakeNccl::Comm : public NcclComm {
 public:
  Comm(FakeNccl& fake, std::shared_ptr<Group> group, int rank)
      : fake_(fake), group_(std::move(group)), rank_(rank) {}
  ~Comm() override { Abort(); }

  std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int) override {
    return Put({Kind::kSend, static_cast<char*>(const_cast<void*>(buffer.data)), buffer.bytes},
               buffer.stream);
  }
  std::unique_ptr<NcclWork> Recv(Buffer buffer, int) override {
    return Put({Kind::kRecv, static_cast<char*>(buffer.data), buffer.bytes}, buffer.stream);
  }
  std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype) override {
    if (dtype == DType::kU8) Throw<BadInput>("all-reduce", "the fake sums no {}", Name(dtype));
    return Put({Kind::kSum, static_cast<char*>(buffer.data), buffer.bytes, dtype}, buffer.stream);
  }
  void Check() override {
    const std::lock_guard lock(fake_.mutex_);
    if (fake_.failed_) Throw<BrokenEnvironment>("nccl", "the network has failed");
    if (!group_->error.empty()) Throw<BrokenEnvironment>("nccl", "{}", group_->error);
    if (group_->aborted.contains(rank_))
      Throw<BrokenEnvironment>("nccl", "the communicator was aborted");
  }
  void Abort() noexcept override {
    const std::lock_guard lock(fake_.mutex_);
    group_->aborted.insert(rank_);
    for (const auto& op : group_->members[rank_]) op->done = true;
    group_->members[rank_].clear();
  }

 private:
  std::unique_ptr<NcclWork> Put(Op op, StreamHandle stream) {
    Check();
    fake_.Note(
        fmt::format("{} {} bytes behind stream {}", NameOf(op.kind), op.bytes, NumberOf(stream)));
    auto shared = std::make_shared<Op>(op);
    const std::lock_guard lock(fake_.mutex_);
    group_->members[rank_].push_back(shared);
    return std::make_unique<Work>(fake_, group_, std::move(shared));
  }

  FakeNccl& fake_;
  const std::shared_ptr<Group> group_;
  const int rank_;
};

NcclId FakeNccl::NewId() {
  const std::lock_guard lock(mutex_);
  NcclId id{};
  std::memcpy(id.data(), &++ids_, sizeof ids_);
  return id;
}

std::unique_ptr<NcclComm> FakeNccl::Join(const NcclId& id, int size, int rank, Device, NcclUse,
                                         const Patience& patience) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  std::shared_ptr<Group>& group = groups_[id];
  if (!group) group = std::make_shared<Group>();
  group->members.resize(size);
  group->joined.insert(rank);
  const std::shared_ptr<Group> mine = group;
  while (static_cast<int>(mine->joined.size()) < size) {
    lock.unlock();
    patience(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    lock.lock();
  }
  return std::make_unique<Comm>(*this, mine, rank);
}

std::unique_ptr<NcclWork> FakeNccl::Copy(Buffer to, const void* from, NcclWork& after) {
  after.Precede(to.stream);
  Note(fmt::format("copy {} bytes behind stream {}", to.bytes, NumberOf(to.stream)));
  while (!after.Done()) std::this_thread::yield();
  std::memcpy(to.data, from, to.bytes);
  auto op = std::make_shared<Op>(Op{Kind::kRecv, nullptr, to.bytes});
  op->done = true;
  return std::make_unique<Work>(*this, nullptr, std::move(op));
}

std::vector<std::string> FakeNccl::calls() {
  const std::lock_guard lock(mutex_);
  return calls_;
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
    return std::ranges::all_of(waited_for_[stream], [](const auto& op) { return op->done; });
  };
  while (!ended()) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

void FakeNccl::Note(std::string call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
}

void FakeNccl::Advance(Group& group) {
  while (!stalled_ && group.error.empty() && Meet(group)) {
  }
}

bool FakeNccl::Meet(Group& group) {
  for (const auto& member : group.members)
    if (member.empty()) return false;
  const bool sum = std::ranges::all_of(
      group.members, [](const auto& member) { return member.front()->kind == Kind::kSum; });
  return sum ? MeetSum(group) : MeetSend(group);
}

bool FakeNccl::MeetSend(Group& group) {
  Op& send = *group.members[0].front();
  Op& recv = *group.members[1].front();
  if (send.kind != Kind::kSend || recv.kind != Kind::kRecv) return false;
  if (send.bytes != recv.bytes) {
    group.error = fmt::format("{} bytes meet {}", send.bytes, recv.bytes);
    return false;
  }
  std::memcpy(recv.data, send.data, send.bytes);
  send.done = recv.done = true;
  for (auto& member : group.members) member.pop_front();
  return true;
}

bool FakeNccl::MeetSum(Group& group) {
  std::vector<Op*> ops;
  for (const auto& member : group.members) ops.push_back(member.front().get());
  for (const Op* op : ops)
    if (op->bytes != ops[0]->bytes || op->dtype != ops[0]->dtype) {
      group.error = fmt::format("a sum of {} bytes meets {}", ops[0]->bytes, op->bytes);
      return false;
    }
  Sum(ops);
  for (auto& member : group.members) {
    member.front()->done = true;
    member.pop_front();
  }
  return true;
}

}  // namespace torus::parallel
