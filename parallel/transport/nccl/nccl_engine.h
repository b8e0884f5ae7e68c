// NcclEngine: NCCL's own collectives among some ranks. Internal to the NCCL transport.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/engine.h"
#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

class NcclEngine : public Engine {
 public:
  // All `members`, ranks of `inner` that include this one, construct it together. Memory on devices
  // other than `device` is summed by the engine of `inner`, if it has one.
  NcclEngine(Transport& inner, NcclLibrary& library, const std::vector<int>& members, Device device,
             double timeout);
  ~NcclEngine() override;

  // Calls ncclAllReduce. Each member first waits for the next one in a circle to start the sum, so
  // that an error names a member that does not come. After that the sum's progress cannot be
  // observed: it must end within twice the timeout.
  Pending AllReduce(Buffer data, DType dtype, std::string what) override;
  // Waits until the previous member knows of all sums that this one has started, and until sums
  // that only a stream waits for have ended on all members.
  void Finish();
  NcclComm& comm() { return *comm_; }

 private:
  class Sum;
  void TellMemberBefore();

  Transport& inner_;
  Engine* const of_host_;
  const Device device_;
  const std::vector<int> members_;
  const double timeout_;
  int before_ = 0, behind_ = 0;  // this rank's neighbours in the circle
  std::unique_ptr<NcclComm> comm_;
  std::unique_ptr<NcclWork> last_;  // the last sum that only a stream waits for
  bool summed_ = false;             // any sum since the last Finish
  std::deque<Pending> told_;
};

}  // namespace torus::parallel
