// NcclEngine: NCCL's own collectives among some ranks. Internal to the NCCL transport.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/engine.h"
#include "parallel/transport/nccl/nccl_launches.h"

namespace torus::parallel {

class NcclEngine : public Engine {
 public:
  // All `members`, ranks of `inner` that include this one and are those of the communicator with
  // that number, construct it together. Memory on devices other than `device` is summed by the
  // engine of `inner`, if it has one.
  NcclEngine(Transport& inner, NcclLaunches& launches, int communicator,
             const std::vector<int>& members, Device device);
  ~NcclEngine() override;

  // Calls ncclAllReduce when the sum has its turn, which it has when all members have come. Each
  // tells the one before it in a circle that it has, and waits first for the one behind it: so the
  // underlying transport, with its deadlines, names a member that does not come.
  Pending AllReduce(Buffer data, DType dtype, std::string what) override;
  // Of sums in GPU memory so far, to the next member.
  uint64_t bytes_computed() const { return bytes_computed_; }
  int next() const { return behind_; }
  // Waits until the previous member knows of all sums that this one has started, and until sums
  // that only a stream waits for have ended on all members.
  void Finish();

 private:
  class Sum;
  void TellMemberBefore();

  Transport& inner_;
  NcclLaunches& launches_;
  Engine* const of_host_;
  const int communicator_;
  const Device device_;
  const std::vector<int> members_;
  int before_ = 0, behind_ = 0;       // this rank's neighbours in the circle
  std::shared_ptr<NcclLaunch> last_;  // the last sum that only a stream waits for
  int64_t sums_ = 0;
  uint64_t bytes_computed_ = 0;
  bool summed_ = false;  // any sum since the last Finish
  std::deque<Pending> told_;
};

}  // namespace torus::parallel
