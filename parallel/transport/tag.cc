#include "parallel/transport/tag.h"

#include "runtime/error.h"

namespace torus::parallel {

std::string ToString(TagClass kind) {
  switch (kind) {
    case TagClass::kControl:
      return "control";
    case TagClass::kActivation:
      return "activation";
    case TagClass::kGradient:
      return "gradient";
    case TagClass::kCollective:
      return "collective";
    case TagClass::kUser:
      return "user";
  }
  return "?";
}

std::string ToString(Tag tag) { return fmt::format("{}/{}", ToString(tag.kind), tag.number); }

}  // namespace torus::parallel
