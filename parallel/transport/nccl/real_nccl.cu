#include <nccl.h>

#include <chrono>
#include <cstring>
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

// What `stream` holds now.
class RealWork : public NcclWork {
 public:
  RealWork(int device, StreamHandle stream) : end_(device, stream) {}
  bool Done() override { return cuda::IsDone(end_.get()); }
  void Precede(StreamHandle stream) override { cuda::WaitOnStream(stream, end_.get()); }

 private:
  const CudaEvent end_;
};

class RealComm : public NcclComm {
 public:
  RealComm(const ncclUniqueId& id, int size, int rank, int device, const Patience& patience)
      : device_(device), patience_(patience), stream_(cuda::CreateStream(device)) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that a member that does not come is given up
    CheckNccl(ncclCommInitRankConfig(&comm_, size, id, rank, &config), "ncclCommInitRankConfig");
    Settle("ncclCommInitRankConfig");
  }
  ~RealComm() override {
    Abort();
    cuda::DestroyStream(stream_);
  }
  RealComm(const RealComm&) = delete;
  RealComm& operator=(const RealComm&) = delete;

  std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer) override {
    Begin(buffer.stream);
    CheckNccl(ncclSend(buffer.data, buffer.bytes, ncclUint8, peer, comm_, Stream()), "ncclSend",
              comm_);
    return End("ncclSend");
  }

  std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer) override {
    Begin(buffer.stream);
    CheckNccl(ncclRecv(buffer.data, buffer.bytes, ncclUint8, peer, comm_, Stream()), "ncclRecv",
              comm_);
    return End("ncclRecv");
  }

  std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype) override {
    const ncclDataType_t type = NcclTypeOf(dtype);
    Begin(buffer.stream);
    CheckNccl(ncclAllReduce(buffer.data, buffer.data, buffer.bytes / SizeOf(dtype), type, ncclSum,
                            comm_, Stream()),
              "ncclAllReduce", comm_);
    return End("ncclAllReduce");
  }

  void Check() override { State("a call under way"); }

  void Abort() noexcept override {
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

 private:
  cudaStream_t Stream() const { return static_cast<cudaStream_t>(stream_); }

  // False while a call is in progress.
  bool State(const char* call) {
    if (comm_ == nullptr)
      Throw<BrokenEnvironment>("nccl", "{}: the communicator was aborted", call);
    ncclResult_t state = ncclSuccess;
    CheckNccl(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
    CheckNccl(state, call, comm_);
    return state == ncclSuccess;
  }

  // A call that does not block may be in progress behind its return.
  void Settle(const char* call) {
    const Clock::time_point begin = Clock::now();
    while (!State(call)) {
      patience_(std::chrono::duration<double>(Clock::now() - begin).count());
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  // Work goes behind what `stream` holds.
  void Begin(StreamHandle stream) {
    State("an earlier call");
    cuda::UseDevice(device_);
    const CudaEvent before(device_, stream);
    cuda::WaitOnStream(stream_, before.get());
  }

  std::unique_ptr<NcclWork> End(const char* call) {
    Settle(call);
    return std::make_unique<RealWork>(device_, stream_);
  }

  const int device_;
  const Patience patience_;
  const StreamHandle stream_;
  ncclComm_t comm_ = nullptr;
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

  std::unique_ptr<NcclComm> Join(const NcclId& id, int size, int rank, Device device,
                                 const Patience& patience) override {
    ncclUniqueId native;
    std::memcpy(&native, id.data(), sizeof native);
    cuda::UseDevice(device.index);
    auto comm = std::make_unique<RealComm>(native, size, rank, device.index, patience);
    Connect(*comm, size, rank, device, patience);
    return comm;
  }

  std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) override {
    after.Precede(to.stream);
    cuda::CopyBytes(to.data, from, to.bytes, to.stream);
    return std::make_unique<RealWork>(to.device.index, to.stream);
  }

 private:
  // NCCL connects two members at their first message, and blocks their calls until both have come.
  static void Connect(NcclComm& comm, int size, int rank, Device device, const Patience& patience) {
    if (size != 2) return;
    char* const byte = static_cast<char*>(cuda::Malloc(device.index, 1));
    if (byte == nullptr)
      Throw<BrokenEnvironment>("nccl", "no memory is left on GPU {}", device.index);
    const std::unique_ptr<char, std::function<void(char*)>> owner(
        byte, [&](char* block) { cuda::Free(device.index, block); });
    const auto work = rank == 0 ? comm.Send({byte, 1, device}, 1) : comm.Recv({byte, 1, device}, 0);
    const Clock::time_point begin = Clock::now();
    while (!work->Done()) patience(std::chrono::duration<double>(Clock::now() - begin).count());
  }
};

}  // namespace

std::unique_ptr<NcclLibrary> RealNccl() { return std::make_unique<Real>(); }

}  // namespace torus::parallel
