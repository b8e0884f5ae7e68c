// Which tensors lie in a GPU's L2 cache: the ones last used.
#pragma once

#include <list>

#include "tools/ledger/work.h"

namespace torus::ledger {

class Cache {
 public:
  explicit Cache(double bytes) : bytes_(bytes) {}

  // The bytes of what the work reads that are there when it begins; afterwards what it used is.
  double Use(const Work& work);

 private:
  struct Held {
    const void* tensor;
    double bytes;
  };
  double BytesOf(const void* tensor) const;
  void Hold(const TensorBytes& tensor);

  const double bytes_;
  std::list<Held> held_;  // last used first
};

}  // namespace torus::ledger
