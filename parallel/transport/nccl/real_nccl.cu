#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

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

class RealComm : public NcclComm {
 public:
  RealComm(int device, const Patience& patience)
      : device_(device), patience_(patience), stream_(cuda::CreateStream(device)) {}
  ~RealComm() override {
    Abort();
    cuda::DestroyStream(stream_);
  }
  RealComm(const RealComm&) = delete;
  RealComm& operator=(const RealComm&) = delete;

  // Where it throws, the destructor aborts what was begun.
  void Join(const ncclUniqueId& id, int size, int rank) {
    constexpr char kCall[] = "ncclCommInitRankConfig";
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that waiting for a missing member can be given up
    {
      const std::lock_guard lock(mutex_);
      CheckNccl(ncclCommInitRankConfig(&comm_, size, id, rank, &config), kCall);
    }
    Settle(kCall);
  }

  std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer) override {
    return Put("ncclSend", buffer.stream, [&](ncclComm_t comm) {
      return ncclSend(buffer.data, buffer.bytes, ncclUint8, peer, comm, Stream());
    });
  }

  std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer) override {
    return Put("ncclRecv", buffer.stream, [&](ncclComm_t comm) {
      return ncclRecv(buffer.data, buffer.bytes, ncclUint8, peer, comm, Stream());
    });
  }

  std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype) override {
    const ncclDataType_t type = NcclTypeOf(dtype);
    return Put("ncclAllReduce", buffer.stream, [&](ncclComm_t comm) {
      return ncclAllReduce(buffer.data, buffer.data, buffer.bytes / SizeOf(dtype), type, ncclSum,
                           comm, Stream());
    });
  }

  void Check() override { State("a call under way"); }

  void Abort() noexcept override {
    const std::lock_guard lock(mutex_);
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

  // Until ready() holds; gives up where the communicator fails.
  void Await(const char* call, const std::function<bool()>& ready) {
    const Clock::time_point begin = Clock::now();
    while (!ready()) {
      State(call);
      patience_(std::chrono::duration<double>(Clock::now() - begin).count());
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  cudaStream_t Stream() const { return static_cast<cudaStream_t>(stream_); }

  // The caller holds the mutex.
  ncclComm_t Comm(const char* call) const {
    if (comm_ == nullptr)
      Throw<BrokenEnvironment>("nccl", "{}: the communicator was aborted", call);
    return comm_;
  }

  // False while a call is in progress.
  bool State(const char* call) {
    const std::lock_guard lock(mutex_);
    ncclResult_t state = ncclSuccess;
    CheckNccl(ncclCommGetAsyncError(Comm(call), &state), "ncclCommGetAsyncError", comm_);
    CheckNccl(state, call, comm_);
    return state == ncclSuccess;
  }

  // A non-blocking call may still be in progress after it returns.
  void Settle(const char* call) {
    Await(call, [&] { return State(call); });
  }

  // Work behind what `stream` holds.
  template <class Call>
  std::unique_ptr<NcclWork> Put(const char* name, StreamHandle stream, const Call& call) {
    cuda::UseDevice(device_);
    const CudaEvent before(device_, stream);
    cuda::WaitOnStream(stream_, before.get());
    {
      const std::lock_guard lock(mutex_);
      CheckNccl(call(Comm(name)), name, comm_);
    }
    Settle(name);
    return std::make_unique<RealWork>(device_, stream_);
  }

  const int device_;
  const Patience patience_;
  const StreamHandle stream_;
  std::mutex mutex_;           // protects calls from a concurrent Abort
  ncclComm_t comm_ = nullptr;  // null once it is aborted
};

class Real : public NcclLibrary {
 public:
  NcclId NewId() override {
    ncclUniqueId id;
    CheckNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    NcclId bytes;
    static_assert(sizeof id == sizeof bytes);
    std::memcpy(bytes.data(), &id, sizeof id);
    return bytes;
  }

  std::unique_ptr<NcclComm> Join(const NcclId& id, int size, int rank, Device device, NcclUse use,
                                 const Patience& patience) override {
    ncclUniqueId native;
    std::memcpy(&native, id.data(), sizeof native);
    cuda::UseDevice(device.index);
    // Before the communicator, which is aborted before the memory is freed.
    const Memory number(device.index, sizeof(int32_t));
    auto comm = std::make_unique<RealComm>(device.index, patience);
    comm->Join(native, size, rank);
    Connect(*comm, use, rank, {number.get(), sizeof(int32_t), device});
    return comm;
  }

  std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) override {
    after.Precede(to.stream);  // and makes the GPU the current one
    cuda::CopyBytes(to.data, from, to.bytes, to.stream);
    return std::make_unique<RealWork>(to.device.index, to.stream);
  }

 private:
  // NCCL connects members at their first operation, and blocks their calls until all have come.
  static void Connect(RealComm& comm, NcclUse use, int rank, Buffer number) {
    const auto work = use == NcclUse::kSums ? comm.AllReduce(number, DType::kI32)
                      : rank == 0 ? comm.Send({number.data, number.bytes, number.device}, 1)
                                  : comm.Recv(number, 0);
    comm.Await("the first work of all", [&] { return work->Done(); });
  }
};

}  // namespace

// If there are more streams than connections, 8 by default, streams share the GPU's queues, and a
// stream that waits for a message would block others. It has an effect only before the first use of
// a GPU.
std::unique_ptr<NcclLibrary> RealNccl() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  return std::make_unique<Real>();
}

}  // namespace torus::parallel
