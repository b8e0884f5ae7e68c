#include "tests/parallel/transport/nccl/emulated_nccl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "parallel/transport/nccl/real_nccl.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"

namespace torus::parallel {

namespace gpu = emulated_gpu;

// What one member put into its stream.
struct EmulatedNccl::Side {
  enum class Kind { kSend, kRecv, kSum };
  Side(Kind kind, void* data, size_t bytes, DType dtype, Device device)
      : kind(kind), data(data), bytes(bytes), dtype(dtype), reached(device) {}
  const Kind kind;
  void* const data;
  const size_t bytes;
  const DType dtype;
  Event reached;                   // all that comes before it in the member's stream
  std::atomic<bool> done = false;  // also once it was aborted
};

struct EmulatedNccl::Group {
  // Of the member's numbered side and those that meet it; fewer while some have not come.
  std::vector<std::shared_ptr<Side>> SidesOf(size_t number) const {
    std::vector<std::shared_ptr<Side>> all;
    for (const auto& member : sides)
      if (number < member.size()) all.push_back(member[number]);
    return all;
  }
  bool Meets(const Side& own, size_t number);
  void Move(const Side& own, size_t number);

  std::mutex mutex;  // taken within the emulated GPUs' own, never around it
  std::set<int> joined;
  std::vector<std::vector<std::shared_ptr<Side>>> sides;  // of each member, in order
  std::set<int> aborted;
};

namespace {

template <class T>
void SumFromTheLast(const std::vector<void*>& all, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(T); ++i) {
    T sum = static_cast<const T*>(all.back())[i];
    for (size_t m = all.size() - 1; m-- > 0;) sum += static_cast<const T*>(all[m])[i];
    for (void* data : all) static_cast<T*>(data)[i] = sum;
  }
}

void Sum(DType dtype, const std::vector<void*>& all, size_t bytes) {
  switch (dtype) {
    case DType::kF64:
      return SumFromTheLast<double>(all, bytes);
    case DType::kF32:
      return SumFromTheLast<float>(all, bytes);
    case DType::kI64:
      return SumFromTheLast<int64_t>(all, bytes);
    case DType::kI32:
      return SumFromTheLast<int32_t>(all, bytes);
    default:
      Throw<BadInput>("all-reduce", "the emulated NCCL sums no {}", Name(dtype));
  }
}

}  // namespace

// Whether all sides can run now. Within the emulated GPUs' lock.
bool EmulatedNccl::Group::Meets(const Side& own, size_t number) {
  if (own.done) return true;
  std::vector<std::shared_ptr<Side>> all;
  {
    const std::lock_guard lock(mutex);
    all = SidesOf(number);
    if (all.size() < sides.size() || !aborted.empty()) return false;
  }
  return std::ranges::all_of(all, [&](const auto& side) {
    return side.get() == &own || gpu::TryReach(side->reached.handle());
  });
}

// Whichever side comes first does it for all.
void EmulatedNccl::Group::Move(const Side& own, size_t number) {
  const std::lock_guard lock(mutex);
  if (own.done || !aborted.empty()) return;
  std::vector<void*> memory;
  const std::vector<std::shared_ptr<Side>> all = SidesOf(number);
  for (const auto& side : all) {
    if (side->bytes != own.bytes)
      Throw<BrokenEnvironment>("nccl", "{} bytes meet {}", own.bytes, side->bytes);
    memory.push_back(side->data);
  }
  if (own.kind == Side::Kind::kSum)
    Sum(own.dtype, memory, own.bytes);
  else if (all[0]->kind == Side::Kind::kSend)
    std::memcpy(memory[1], memory[0], own.bytes);
  else
    std::memcpy(memory[0], memory[1], own.bytes);
  for (const auto& side : all) side->done = true;
}

class EmulatedNccl::Work : public NcclWork {
 public:
  Work(Device device, StreamHandle stream, std::shared_ptr<Side> side = nullptr)
      : end_(device), side_(std::move(side)) {
    end_.Record(stream);
  }
  bool Done() override { return end_.IsDone(); }
  // To ask the emulated GPU would make it work.
  bool Peek() override { return side_ != nullptr && side_->done; }
  void Precede(StreamHandle stream) override {
    gpu::SetCurrentDevice(end_.device().index);
    gpu::StreamWaitsForEvent(stream, end_.handle());
  }

 private:
  Event end_;
  const std::shared_ptr<Side> side_;
};

class EmulatedNccl::Comm : public NcclComm {
 public:
  Comm(EmulatedNccl& nccl, std::shared_ptr<Group> group, int member, Device device)
      : nccl_(nccl), group_(std::move(group)), member_(member), stream_(device) {}

  std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int, NcclWork& after) override {
    return Put(Side::Kind::kSend, const_cast<void*>(buffer.data), buffer.bytes, DType::kU8,
               buffer.device, after);
  }
  std::unique_ptr<NcclWork> Recv(Buffer buffer, int, NcclWork& after) override {
    return Put(Side::Kind::kRecv, buffer.data, buffer.bytes, DType::kU8, buffer.device, after);
  }
  std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype, NcclWork& after) override {
    return Put(Side::Kind::kSum, buffer.data, buffer.bytes, dtype, buffer.device, after);
  }
  void Check() override {
    const std::lock_guard lock(group_->mutex);
    if (group_->aborted.contains(member_))
      Throw<BrokenEnvironment>("nccl", "the communicator was aborted");
  }
  void Abort() noexcept {
    const std::lock_guard lock(group_->mutex);
    group_->aborted.insert(member_);
    for (const auto& side : group_->sides[member_]) side->done = true;
  }

 private:
  std::unique_ptr<NcclWork> Put(Side::Kind kind, void* data, size_t bytes, DType dtype,
                                Device device, NcclWork& after) {
    TORUS_CHECK(device == stream_.device(), "memory of {} in a communicator of {}", device,
                stream_.device());
    Check();
    auto side = std::make_shared<Side>(kind, data, bytes, dtype, device);
    after.Precede(stream_.handle());
    side->reached.Record(stream_);
    const size_t number = Add(side);
    gpu::SetCurrentDevice(device.index);
    gpu::EnqueueWhenReady(
        stream_.handle(), "nccl",
        [group = group_, side, number] { return group->Meets(*side, number); },
        [group = group_, side, number] { group->Move(*side, number); });
    return std::make_unique<Work>(device, stream_.handle(), side);
  }

  size_t Add(const std::shared_ptr<Side>& side) {
    const std::lock_guard lock(group_->mutex);
    group_->sides[member_].push_back(side);
    const size_t number = group_->sides[member_].size() - 1;
    if (group_->SidesOf(number).size() == group_->sides.size())
      ++(side->kind == Side::Kind::kSum ? nccl_.sums_ : nccl_.messages_);
    return number;
  }

  EmulatedNccl& nccl_;
  const std::shared_ptr<Group> group_;
  const int member_;
  Stream stream_;
};

NcclId EmulatedNccl::NewId() {
  const std::lock_guard lock(mutex_);
  NcclId id{};
  std::memcpy(id.data(), &++ids_, sizeof ids_);
  return id;
}

std::shared_ptr<EmulatedNccl::Group> EmulatedNccl::Enter(const NcclSeat& seat) {
  std::shared_ptr<Group> group;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Group>& place = groups_[seat.id];
    if (!place) place = std::make_shared<Group>();
    group = place;
  }
  const std::lock_guard lock(group->mutex);
  group->sides.resize(seat.size);
  group->joined.insert(seat.member);
  return group;
}

std::vector<std::unique_ptr<NcclComm>> EmulatedNccl::Join(const std::vector<NcclSeat>& seats,
                                                          Device device, const Patience& patience) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<Group>> groups;
  for (const NcclSeat& seat : seats) groups.push_back(Enter(seat));
  const auto has_all = [](const std::shared_ptr<Group>& group) {
    const std::lock_guard lock(group->mutex);
    return group->joined.size() == group->sides.size();
  };
  while (!std::ranges::all_of(groups, has_all)) {
    patience(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::vector<std::unique_ptr<NcclComm>> comms;
  for (size_t i = 0; i < seats.size(); ++i)
    comms.push_back(std::make_unique<Comm>(*this, groups[i], seats[i].member, device));
  return comms;
}

void EmulatedNccl::Abort(const std::vector<NcclComm*>& comms) noexcept {
  for (NcclComm* comm : comms) static_cast<Comm*>(comm)->Abort();
}

std::unique_ptr<NcclWork> EmulatedNccl::Mark(Device device, StreamHandle stream) {
  gpu::SetCurrentDevice(device.index);
  return std::make_unique<Work>(device, stream);
}

std::unique_ptr<NcclWork> EmulatedNccl::Copy(Buffer to, const void* from, NcclWork& after) {
  after.Precede(to.stream);
  gpu::SetCurrentDevice(to.device.index);
  gpu::Enqueue(to.stream, "copy", [=] { std::memcpy(to.data, from, to.bytes); });
  return std::make_unique<Work>(to.device, to.stream);
}

std::unique_ptr<NcclLibrary> NcclForTests(int gpus) {
  if (GpuCount() < gpus) return nullptr;
  if constexpr (kHasCuda && !kEmulatedGpu)
    return RealNccl();
  else
    return std::make_unique<EmulatedNccl>();
}

}  // namespace torus::parallel
