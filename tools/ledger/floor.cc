#include "tools/ledger/floor.h"

#include <algorithm>
#include <map>

#include "tools/ledger/machine.h"

namespace torus::ledger {
namespace {

// What a tensor holds between two times at which it is written.
struct Version {
  double written = 0, read = 0;
  bool copied = false;
};

class Versions {
 public:
  void Add(const Work& work) {
    for (const TensorBytes& tensor : work.read) {
      Version& version = now_[tensor.tensor];
      version.read = std::max(version.read, tensor.bytes);
    }
    for (const TensorBytes& tensor : work.written) {
      Version& version = now_[tensor.tensor];
      if (version.read > 0) Close(version);
      version.written = std::max(version.written, tensor.bytes);
      version.copied = work.op == "copy";
    }
  }
  double Bytes() {
    for (auto& [tensor, version] : now_) Close(version);
    return bytes_;
  }

 private:
  void Close(Version& version) {
    if (!version.copied) bytes_ += version.written + version.read;
    version = {};
  }
  std::map<const void*, Version> now_;
  double bytes_ = 0;
};

}  // namespace

double Floor::seconds() const { return std::max(flops_seconds, memory_seconds); }

Floor FloorOf(const Works& works) {
  Floor floor;
  Versions versions;
  for (const auto& work : works) {
    versions.Add(*work);
    floor.flops_seconds += work->flops / RateOf(work->unit);
  }
  floor.bytes = versions.Bytes();
  floor.memory_seconds = floor.bytes / Machine().memory_bytes;
  return floor;
}

}  // namespace torus::ledger
