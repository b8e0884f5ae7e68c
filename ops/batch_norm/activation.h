// The activations that are fused into what they follow.
#pragma once

namespace torus::ops {

// Nothing, max(x, 0), or min(max(x, 0), 6).
enum class Activation { kNone, kRelu, kRelu6 };

}  // namespace torus::ops
