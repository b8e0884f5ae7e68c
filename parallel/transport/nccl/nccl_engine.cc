#include "parallel/transport/nccl/nccl_engine.h"

#include <utility>

#include "parallel/transport/members.h"
#include "parallel/transport/nccl/announcement.h"
#include "parallel/transport/nccl/control_wait.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

void RequireSummed(DType dtype) {
  for (const DType summed :
       {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64, DType::kI32})
    if (dtype == summed) return;
  Throw<BadInput>("all-reduce", "NCCL sums f64, f32, bf16, f16, i64 and i32, got {}", Name(dtype));
}

}  // namespace

// An all-reduce in flight. It cannot be cancelled: dropping it aborts the run.
class NcclEngine::Sum : public Pending::State {
 public:
  Sum(NcclEngine& engine, Buffer data, DType dtype, TransferText text)
      : engine_(engine), text_(std::move(text)) {
    came_ = engine_.inner_.Recv(engine_.behind_, kJoinedTag, {&token_, 1}, text_.what);
    engine_.TellMemberBefore();
    launch_ = engine_.launches_.Put(
        {engine_.communicator_, Turn::kSum, engine_.sums_++}, data.stream, WaitingText(text_),
        [=](NcclComm& comm, NcclWork& after) { return comm.AllReduce(data, dtype, after); });
  }
  ~Sum() override {
    if (launch_ != nullptr && !HasEnded(*launch_)) engine_.launches_.Drop();
  }

  WaitTime Wait() override {
    WaitTime time = Meet();
    time.moving = engine_.launches_.WaitForEnd(*launch_).moving;
    launch_ = nullptr;
    return time;
  }

  WaitTime WaitOn(StreamHandle stream) override {
    const WaitTime time = Meet();
    engine_.launches_.WaitUntilLaunched(*launch_);
    launch_->work().Precede(stream);
    engine_.last_ = std::move(launch_);
    return time;
  }

  bool Done() override { return came_.Done() && launch_->Done(); }

 private:
  // Waits until the next member in the circle has started; that one in turn waits for the one after
  // it.
  WaitTime Meet() { return WaitFor(came_, text_); }

  NcclEngine& engine_;
  const TransferText text_;
  char token_ = 0;
  Pending came_;
  std::shared_ptr<NcclLaunch> launch_;
};

NcclEngine::NcclEngine(Transport& inner, NcclLaunches& launches, int communicator,
                       const std::vector<int>& members, Device device)
    : inner_(inner),
      launches_(launches),
      of_host_(inner.EngineOf(members)),
      communicator_(communicator),
      device_(device),
      members_(members) {
  const size_t size = members.size(), index = IndexOfMember(members, inner.rank());
  before_ = members[(index + size - 1) % size];
  behind_ = members[(index + 1) % size];
}

NcclEngine::~NcclEngine() = default;

Pending NcclEngine::AllReduce(Buffer data, DType dtype, std::string what) {
  if (data.bytes == 0) return {};
  if (data.device != device_) {
    Require(of_host_ != nullptr, "all-reduce", "NCCL sums memory of {}, got {} ({})", device_,
            data.device, what);
    return of_host_->AllReduce(data, dtype, std::move(what));
  }
  RequireSummed(dtype);
  bytes_computed_ += RingBytes(members_.size(), data.bytes);
  return Pending(std::make_unique<Sum>(
      *this, data, dtype,
      TransferText{
          false, inner_.rank(), behind_, {TagClass::kCollective, 0}, data.bytes, std::move(what)}));
}

// Nobody waits for it to be received: that member may do something else before it waits for its
// sum.
void NcclEngine::TellMemberBefore() {
  static constexpr char kCame = 1;
  summed_ = true;
  while (!told_.empty() && told_.front().Done()) told_.pop_front();
  told_.push_back(inner_.Send(before_, kJoinedTag, {&kCame, 1}, "start of a sum by NCCL"));
}

void NcclEngine::Finish() {
  for (Pending& each : told_) each.Wait();
  told_.clear();
  if (last_) launches_.WaitForEnd(*last_);
  last_ = nullptr;
  if (std::exchange(summed_, false)) ShareAmong(inner_, members_, char{1}, "end of all sums");
}

}  // namespace torus::parallel
