#include "parallel/collectives/communicator.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "parallel/collectives/all_to_all.h"
#include "parallel/collectives/barrier.h"
#include "parallel/collectives/broadcast.h"
#include "parallel/collectives/direct.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "parallel/collectives/rows.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

bool OnCpu(const Buffer& buffer) { return buffer.device.kind == DeviceKind::kCpu; }

template <class T>
std::span<T> Elements(const Buffer& buffer) {
  return {static_cast<T*>(buffer.data), buffer.bytes / sizeof(T)};
}

// Calls f(std::type_identity<T>) for the element type.
template <class F>
void VisitSummed(DType dtype, const std::string& what, const F& f) {
  switch (dtype) {
    case DType::kF64:
      return f(std::type_identity<double>());
    case DType::kF32:
      return f(std::type_identity<float>());
    case DType::kI64:
      return f(std::type_identity<int64_t>());
    case DType::kI32:
      return f(std::type_identity<int32_t>());
    default:
      Throw<BadInput>("communicator", "sums f64, f32, i64 and i32, got {} ({})", Name(dtype), what);
  }
}

// A sum by an engine in GPU memory.
class EngineSum : public PendingCollective {
 public:
  EngineSum(Pending pending, StreamHandle stream) : pending_(std::move(pending)), stream_(stream) {}
  bool Advance() override { return pending_.Done(); }
  void Finish() override { pending_.WaitOn(stream_); }

 private:
  Pending pending_;
  const StreamHandle stream_;
};

// A sum that does not overlap other work.
class SumAtTheEnd : public PendingCollective {
 public:
  SumAtTheEnd(Communicator& communicator, Buffer data, DType dtype, std::string what)
      : communicator_(communicator), data_(data), dtype_(dtype), what_(std::move(what)) {}
  bool Advance() override { return done_; }
  void Finish() override {
    if (!std::exchange(done_, true)) communicator_.AllReduce(data_, dtype_, what_);
  }

 private:
  Communicator& communicator_;
  const Buffer data_;
  const DType dtype_;
  const std::string what_;
  bool done_ = false;
};

// A contiguous copy to sum.
Tensor CopyToSum(const Tensor& own, Device device) {
  const DType summed = own.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const Tensor sum = own.To(device).To(summed).Contiguous();
  return sum.storage() == own.storage() ? sum.Clone() : sum;
}

}  // namespace

Buffer BufferOf(Tensor& tensor) {
  const Device device = tensor.device();
  return {tensor.mutable_raw(), tensor.bytes(), device, CurrentStream(device)};
}

Buffer BufferToRead(const Tensor& tensor) {
  const Device device = tensor.device();
  return {const_cast<void*>(tensor.raw()), tensor.bytes(), device, CurrentStream(device)};
}

Communicator::Communicator(Transport& transport, Options options)
    : transport_(transport), options_(options) {}

Communicator::Communicator(Transport& transport, std::vector<int> members, Options options)
    : group_(std::make_unique<Group>(transport, std::move(members))),
      transport_(*group_),
      options_(options) {}

std::vector<std::byte> Communicator::ShareRecord(std::span<const std::byte> record,
                                                 const std::string& what) {
  return parallel::ShareRecord(transport_, kRecord, record, what);
}

// Pads all to the longest, which is cheap for short messages.
std::vector<std::vector<std::byte>> Communicator::ShareBytes(std::span<const std::byte> bytes,
                                                             const std::string& what) {
  const std::vector<uint64_t> sizes = Share<uint64_t>(bytes.size(), "size of " + what);
  const uint64_t most = std::ranges::max(sizes);
  std::vector<std::byte> mine(bytes.begin(), bytes.end());
  mine.resize(most);
  const std::vector<std::byte> all = ShareRecord(mine, what);
  std::vector<std::vector<std::byte>> shared;
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(rank * most);
    shared.emplace_back(begin, begin + static_cast<ptrdiff_t>(sizes[rank]));
  }
  return shared;
}

std::vector<std::vector<std::byte>> Communicator::Gather(std::span<const std::byte> bytes,
                                                         const std::string& what) {
  const std::vector<uint64_t> sizes = Share<uint64_t>(bytes.size(), "size of " + what);
  std::vector<std::vector<std::byte>> all(size());
  std::vector<Buffer> rows(size());
  all[rank()].assign(bytes.begin(), bytes.end());
  for (int from = 0; rank() == 0 && from < size(); ++from) all[from].resize(sizes[from]);
  for (int from = 0; from < size(); ++from) rows[from] = BufferOf(std::span(all[from]));
  Gather(0, rows, what);
  if (rank() != 0) all.clear();
  return all;
}

std::string Communicator::BroadcastText(std::string text, const std::string& what) {
  uint64_t bytes = text.size();
  Broadcast(BufferOf(std::span(&bytes, 1)), 0, what);
  text.resize(bytes);
  Broadcast(BufferOf(std::span(text)), 0, what);
  return text;
}

uint8_t Communicator::Announce(uint8_t value, const std::string& what) {
  if (rank() != 0) {
    transport_.Recv(0, kAnnouncement, {&value, sizeof value}, what).Wait();
    return value;
  }
  const auto taken = [](const Announcement& one) {
    return std::ranges::all_of(one.sends, [](const Pending& send) { return send.Done(); });
  };
  while (!announced_.empty() && taken(announced_.front())) announced_.pop_front();
  Announcement& now = announced_.emplace_back(value);
  for (int peer = 1; peer < size(); ++peer)
    now.sends.push_back(transport_.Send(peer, kAnnouncement, {&now.value, sizeof now.value}, what));
  return value;
}

void Communicator::Barrier(const std::string& what) { parallel::Barrier(transport_, what); }

// Calls run(buffers), with copies in CPU memory in place of those on GPUs.
template <class Run>
void Communicator::InCpuMemory(const std::vector<Buffer>& buffers, const std::vector<Use>& uses,
                               const Run& run) const {
  std::vector<Buffer> here = buffers;
  std::deque<Storage> copies;
  for (size_t i = 0; i < here.size(); ++i) {
    const Buffer& there = buffers[i];
    if (OnCpu(there) || uses[i] == Use::kNone || there.bytes == 0) continue;
    here[i] = {copies.emplace_back(there.bytes, Device{}).data(), there.bytes};
    if (uses[i] != Use::kWrites)
      CopyMemory(there.data, there.device, here[i].data, Device{}, there.bytes);
  }
  run(here);
  for (size_t i = 0; i < here.size(); ++i)
    if (here[i].data != buffers[i].data && uses[i] != Use::kReads)
      CopyMemory(here[i].data, Device{}, buffers[i].data, buffers[i].device, here[i].bytes);
}

std::vector<Communicator::Use> Communicator::UsesOfRows(Use own, Use others) const {
  std::vector<Use> uses(size(), others);
  uses[rank()] = own;
  return uses;
}

bool Communicator::SumsOn(Device device) const {
  return device.kind == DeviceKind::kCpu || (options_.engine_on_gpus && transport_.Moves(device));
}

bool Communicator::MeetEngine() {
  if (!engine_) engine_ = size() == 1 ? nullptr : EngineOfAll(transport_);
  return *engine_ != nullptr;
}

// Null for sums in CPU memory.
Engine* Communicator::EngineFor(Device device) {
  const bool there = device.kind != DeviceKind::kCpu && SumsOn(device);
  return there && MeetEngine() ? *engine_ : nullptr;
}

void Communicator::AllReduce(Buffer data, DType dtype, const std::string& what) {
  if (size() == 1 || data.bytes == 0) return;
  if (Engine* const engine = EngineFor(data.device)) {
    engine->AllReduce(data, dtype, what).WaitOn(data.stream);
    return;
  }
  InCpuMemory({data}, {Use::kBoth}, [&](const std::vector<Buffer>& here) {
    VisitSummed(dtype, what, [&]<class T>(std::type_identity<T>) {
      parallel::AllReduce(transport_, Elements<T>(here[0]), what, options_.on_cpu);
    });
  });
}

Tensor Communicator::AllReduce(const Tensor& own, const std::string& what) {
  TORUS_CHECK(IsFloating(own.dtype()), "cannot sum {} over ranks", own);
  Tensor sum = CopyToSum(own, EngineFor(own.device()) != nullptr ? own.device() : Device{});
  AllReduce(BufferOf(sum), sum.dtype(), what);
  return sum.To(own.dtype()).To(own.device());
}

std::unique_ptr<PendingCollective> Communicator::StartAllReduce(Buffer data, DType dtype,
                                                                std::string what, int lane) {
  std::unique_ptr<PendingCollective> started;
  if (Engine* const engine = EngineFor(data.device)) {
    started = std::make_unique<EngineSum>(engine->AllReduce(data, dtype, what), data.stream);
  } else if (!OnCpu(data) || options_.on_cpu != AllReduceAlgorithm::kDirect) {
    started = std::make_unique<SumAtTheEnd>(*this, data, dtype, std::move(what));
  } else {
    VisitSummed(dtype, what, [&]<class T>(std::type_identity<T>) {
      started = StartDirectAllReduce(transport_, Elements<T>(data), what, lane);
    });
  }
  return started;
}

void Communicator::ReduceScatter(const std::vector<Buffer>& rows, DType dtype,
                                 const std::string& what) {
  InCpuMemory(rows, UsesOfRows(Use::kBoth, Use::kReads), [&](const std::vector<Buffer>& here) {
    VisitSummed(dtype, what, [&]<class T>(std::type_identity<T>) {
      std::vector<std::span<T>> elements;
      for (const Buffer& row : here) elements.push_back(Elements<T>(row));
      ReduceRows(transport_, elements, what);
    });
  });
}

// Whether the transport moves these rows between all members.
bool Communicator::Connects(const std::vector<Buffer>& rows) const {
  std::vector<int> members(size());
  std::iota(members.begin(), members.end(), 0);
  return std::ranges::all_of(rows, [&](const Buffer& row) {
    return OnCpu(row) || transport_.MovesAmong(members, row.device);
  });
}

void Communicator::AllGather(const std::vector<Buffer>& rows, const std::string& what) {
  if (Connects(rows)) return GatherRows(transport_, rows, what);
  InCpuMemory(rows, UsesOfRows(Use::kReads, Use::kWrites),
              [&](const std::vector<Buffer>& here) { GatherRows(transport_, here, what); });
}

std::vector<Tensor> Communicator::AllGather(const Tensor& own, const std::string& what) {
  std::vector<Tensor> all;
  std::vector<Buffer> rows;
  for (int r = 0; r < size(); ++r) {
    Tensor& one =
        all.emplace_back(r == rank() ? own.Clone() : Empty(own.shape(), own.dtype(), own.device()));
    rows.push_back(BufferOf(one));
  }
  AllGather(rows, what);
  return all;
}

std::unique_ptr<PendingCollective> Communicator::StartAllGather(const std::vector<Buffer>& rows,
                                                                const std::string& what, int lane) {
  TORUS_CHECK(std::ranges::all_of(rows, OnCpu), "{} is not in CPU memory", what);
  return StartGatherRows(transport_, rows, what, lane);
}

void Communicator::Gather(int root, const std::vector<Buffer>& rows, const std::string& what) {
  const std::vector<Use> uses =
      rank() == root ? UsesOfRows(Use::kNone, Use::kWrites) : UsesOfRows(Use::kReads, Use::kNone);
  InCpuMemory(rows, uses,
              [&](const std::vector<Buffer>& here) { GatherRowsAt(root, transport_, here, what); });
}

void Communicator::Broadcast(Buffer data, int root, const std::string& what) {
  const Use use = rank() == root ? Use::kReads : Use::kWrites;
  InCpuMemory({data}, {use}, [&](const std::vector<Buffer>& here) {
    parallel::Broadcast(transport_, Elements<std::byte>(here[0]), root, what);
  });
}

void Communicator::Broadcast(const std::vector<NamedTensor>& tensors, const std::string& what) {
  if (size() == 1) return;
  for (Tensor tensor; const auto& [name, value] : tensors) {
    tensor = value;
    Require(tensor.is_contiguous(), "communicator", "{} must be contiguous", name);
    Broadcast(BufferOf(tensor), 0, fmt::format("broadcast of {}, {}", name, what));
  }
}

void Communicator::AllToAll(Buffer send, Buffer receive, const std::string& what) {
  InCpuMemory({send, receive}, {Use::kReads, Use::kWrites}, [&](const std::vector<Buffer>& here) {
    parallel::AllToAll(transport_, Elements<std::byte>(here[0]), Elements<std::byte>(here[1]),
                       what);
  });
}

}  // namespace torus::parallel
