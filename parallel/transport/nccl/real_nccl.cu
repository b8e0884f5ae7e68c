#include <nccl.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "parallel/transport/nccl/real_nccl.h"
#include "runtime/cuda_api.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Clock = std::chrono::steady_clock;

void CheckNccl(ncclResult_t result, const char* call, ncclComm_t comm = nullptr) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  Throw<BrokenEnvironment>("nccl", "{}: {} ({})", call, ncclGetErrorString(result),
                           ncclGetLastError(comm));
}

ncclDataType_t NcclTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return ncclDouble;
    case DType::kF32:
      return ncclFloat;
    case DType::kBF16:
      return ncclBfloat16;
    case DType::kF16:
      return ncclHalf;
    case DType::kI64:
      return ncclInt64;
    case DType::kI32:
      return ncclInt32;
    default:
      Throw<BadInput>("all-reduce", "NCCL sums f64, f32, bf16, f16, i64 and i32, got {}",
                      Name(dtype));
  }
}

class CudaEvent {
 public:
  CudaEvent(int device, StreamHandle stream) : event_(cuda::CreateEvent(device)) {
    cuda::Record(event_, stream);
  }
  ~CudaEvent() { cuda::DestroyEvent(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  cuda::EventHandle get() const { return event_; }

 private:
  const cuda::EventHandle event_;
};

// Of a GPU.
class Memory {
 public:
  Memory(int device, size_t bytes) : device_(device), block_(cuda::Malloc(device, bytes)) {
    if (block_ == nullptr) Throw<BrokenEnvironment>("nccl", "no memory is left on GPU {}", device);
  }
  ~Memory() { cuda::Free(device_, block_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* get() const { return block_; }

 private:
  const int device_;
  void* const block_;
};

// What `stream` holds now.
class RealWork : public NcclWork {
 public:
  RealWork(int device, StreamHandle stream) : device_(device), end_(device, stream) {}
  bool Done() override { return cuda::IsDone(end_.get()); }
  // Of the null stream the current device says whose it is.
  void Precede(StreamHandle stream) override {
    cuda::UseDevice(device_);
    cuda::WaitOnStream(stream, end_.get());
  }

 private:
  const int device_;
  const CudaEvent end_;
};

// A GPU's operations one behind the other, where NCCL cannot order their kernels. One thread at a
// time launches on a GPU.
class RealSerial {
 public:
  void Precede(StreamHandle stream) const {
    if (last_) last_->Precede(stream);
  }
  void Follow(int device, StreamHandle stream) {
    last_ = std::make_unique<RealWork>(device, stream);
  }

 private:
  std::unique_ptr<RealWork> last_;
};

// Calls that put work into a stream block only while that is done: members are connected when they
// join. So nothing waits for a thread of NCCL's, as calls of non-blocking communicators do.
class RealComm : public NcclComm {
 public:
  RealComm(int device, RealSerial* serial)
      : device_(device), serial_(serial), stream_(cuda::CreateStream(device)) {}
  ~RealComm() override { cuda::DestroyStream(stream_); }
  RealComm(const RealComm&) = delete;
  RealComm& operator=(const RealComm&) = delete;

  // Within a group of NCCL's; the communicator may be used after its end.
  void Join(const NcclSeat& seat) {
    ncclUniqueId id;
    static_assert(sizeof id == sizeof seat.id);
    std::memcpy(&id, seat.id.data(), sizeof id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    CheckNccl(ncclCommInitRankConfig(&comm_, seat.size, id, seat.member, &config),
              "ncclCommInitRankConfig");
  }

  // Within a group: the first work in each direction, or of all members.
  void Connect(const NcclSeat& seat, int32_t* numbers) {
    if (seat.use == NcclUse::kSums) {
      CheckNccl(ncclAllReduce(numbers, numbers, 1, ncclInt32, ncclSum, comm_, Stream()),
                "ncclAllReduce");
      return;
    }
    CheckNccl(ncclSend(numbers, 1, ncclInt32, 1 - seat.member, comm_, Stream()), "ncclSend");
    CheckNccl(ncclRecv(numbers + 1, 1, ncclInt32, 1 - seat.member, comm_, Stream()), "ncclRecv");
  }

  std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer, NcclWork& after) override {
    return Put("ncclSend", after, [&](ncclComm_t comm) {
      return ncclSend(buffer.data, buffer.bytes, ncclUint8, peer, comm, Stream());
    });
  }

  std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer, NcclWork& after) override {
    return Put("ncclRecv", after, [&](ncclComm_t comm) {
      return ncclRecv(buffer.data, buffer.bytes, ncclUint8, peer, comm, Stream());
    });
  }

  std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype, NcclWork& after) override {
    const ncclDataType_t type = NcclTypeOf(dtype);
    return Put("ncclAllReduce", after, [&](ncclComm_t comm) {
      return ncclAllReduce(buffer.data, buffer.data, buffer.bytes / SizeOf(dtype), type, ncclSum,
                           comm, Stream());
    });
  }

  void Check() override {
    const std::lock_guard lock(mutex_);
    ncclResult_t state = ncclSuccess;
    CheckNccl(ncclCommGetAsyncError(Comm("ncclCommGetAsyncError"), &state), "ncclCommGetAsyncError",
              comm_);
    CheckNccl(state, "a call under way", comm_);
  }

  // Within a group: the flags of all communicators are set at once, and what blocks until kernels
  // have ended comes at the group's end.
  void AbortInGroup() noexcept {
    const std::lock_guard lock(mutex_);
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

  std::unique_ptr<RealWork> Reached() const { return std::make_unique<RealWork>(device_, stream_); }

 private:
  cudaStream_t Stream() const { return static_cast<cudaStream_t>(stream_); }

  // The caller holds the mutex.
  ncclComm_t Comm(const char* call) const {
    if (comm_ == nullptr)
      Throw<BrokenEnvironment>("nccl", "{}: the communicator was aborted", call);
    return comm_;
  }

  template <class Call>
  std::unique_ptr<NcclWork> Put(const char* name, NcclWork& after, const Call& call) {
    after.Precede(stream_);  // and makes the GPU the current one
    const std::lock_guard lock(mutex_);
    if (serial_ != nullptr) serial_->Precede(stream_);
    CheckNccl(call(Comm(name)), name, comm_);
    if (serial_ != nullptr) serial_->Follow(device_, stream_);
    return std::make_unique<RealWork>(device_, stream_);
  }

  const int device_;
  RealSerial* const serial_;  // null: NCCL orders kernels itself
  const StreamHandle stream_;
  std::mutex mutex_;           // protects calls from a concurrent abort
  ncclComm_t comm_ = nullptr;  // null once it is aborted
};

// A group of NCCL's calls, which ends also where one of them throws.
template <class Calls>
void InGroup(const Calls& calls) {
  CheckNccl(ncclGroupStart(), "ncclGroupStart");
  std::exception_ptr failure;
  try {
    calls();
  } catch (...) {
    failure = std::current_exception();
  }
  const ncclResult_t ended = ncclGroupEnd();
  if (failure) std::rethrow_exception(failure);
  CheckNccl(ended, "ncclGroupEnd");
}

// Communicators that a thread joins, while the rank waits with patience. If the rank gives up, the
// thread is left to itself with all that it uses, since a blocking join cannot be called off.
struct Joining {
  std::vector<NcclSeat> seats;
  int device = 0;
  std::vector<std::unique_ptr<RealComm>> comms;
  std::optional<Memory> numbers;
  std::exception_ptr failure;
  std::atomic<bool> ended = false;

  void Run() noexcept {
    try {
      cuda::UseDevice(device);
      InGroup([&] {
        for (size_t i = 0; i < seats.size(); ++i) comms[i]->Join(seats[i]);
      });
      numbers.emplace(device, 2 * seats.size() * sizeof(int32_t));
      InGroup([&] {
        for (size_t i = 0; i < seats.size(); ++i)
          comms[i]->Connect(seats[i], static_cast<int32_t*>(numbers->get()) + 2 * i);
      });
      for (const auto& comm : comms) {
        const auto reached = comm->Reached();
        while (!reached->Done()) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    ended = true;
  }
};

void WaitWithPatience(const Joining& joining, const Patience& patience) {
  for (const Clock::time_point begin = Clock::now(); !joining.ended;) {
    patience(std::chrono::duration<double>(Clock::now() - begin).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class Real : public NcclLibrary {
 public:
  // NCCL reads its settings at their first use. Before 2.26 it orders no kernels.
  void Configure(const NcclSettings& settings) override {
    std::call_once(configured_, [&] {
      setenv("NCCL_RUNTIME_CONNECT", settings.connects_at_once ? "0" : "1", 1);
      setenv("NCCL_LAUNCH_ORDER_IMPLICIT", settings.starts_in_order ? "1" : "0", 1);
      int version = 0;
      CheckNccl(ncclGetVersion(&version), "ncclGetVersion");
      in_series_ = settings.starts_in_order && version < NCCL_VERSION(2, 26, 0);
    });
  }

  NcclId NewId() override {
    ncclUniqueId id;
    CheckNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    NcclId bytes;
    static_assert(sizeof id == sizeof bytes);
    std::memcpy(bytes.data(), &id, sizeof id);
    return bytes;
  }

  std::vector<std::unique_ptr<NcclComm>> Join(const std::vector<NcclSeat>& seats, Device device,
                                              const Patience& patience) override {
    const auto joining = std::make_shared<Joining>();
    joining->seats = seats;
    joining->device = device.index;
    for (size_t i = 0; i < seats.size(); ++i)
      joining->comms.push_back(std::make_unique<RealComm>(device.index, SerialOf(device.index)));
    std::thread([joining] { joining->Run(); }).detach();
    WaitWithPatience(*joining, patience);
    std::vector<NcclComm*> made;
    for (const auto& comm : joining->comms) made.push_back(comm.get());
    if (joining->failure) {
      Abort(made);
      std::rethrow_exception(joining->failure);
    }
    std::vector<std::unique_ptr<NcclComm>> comms;
    for (auto& comm : joining->comms) comms.push_back(std::move(comm));
    return comms;
  }

  void Abort(const std::vector<NcclComm*>& comms) noexcept override {
    ncclGroupStart();
    for (NcclComm* comm : comms) static_cast<RealComm*>(comm)->AbortInGroup();
    ncclGroupEnd();
  }

  std::unique_ptr<NcclWork> Mark(Device device, StreamHandle stream) override {
    cuda::UseDevice(device.index);
    return std::make_unique<RealWork>(device.index, stream);
  }

  std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) override {
    after.Precede(to.stream);  // and makes the GPU the current one
    cuda::CopyBytes(to.data, from, to.bytes, to.stream);
    return std::make_unique<RealWork>(to.device.index, to.stream);
  }

 private:
  RealSerial* SerialOf(int device) {
    if (!in_series_) return nullptr;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<RealSerial>& serial = serials_[device];
    if (serial == nullptr) serial = std::make_unique<RealSerial>();
    return serial.get();
  }

  std::once_flag configured_;
  bool in_series_ = false;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<RealSerial>> serials_;  // by device
};

}  // namespace

std::unique_ptr<NcclLibrary> RealNccl() { return std::make_unique<Real>(); }

}  // namespace torus::parallel
