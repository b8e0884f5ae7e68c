#include "tools/ledger/work.h"

namespace torus::ledger {

double Work::must() const {
  double sum = 0;
  for (const auto* side : {&read, &written})
    for (const TensorBytes& tensor : *side) sum += tensor.bytes;
  return sum;
}

double Work::sectors() const {
  double sum = 0;
  for (const auto* side : {&read, &written})
    for (const TensorBytes& tensor : *side) sum += tensor.moved;
  return sum;
}

}  // namespace torus::ledger
