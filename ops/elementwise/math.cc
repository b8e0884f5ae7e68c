#include "ops/elementwise/math.h"

#include "ops/elementwise/math_functors.h"
#include "ops/elementwise/record_map.h"

namespace torus::ops {

Variable Exp(const Variable& input) { return RecordMap("exp", input, ExpFunctor{}); }
Variable Log(const Variable& input) { return RecordMap("log", input, LogFunctor{}); }
Variable Sqrt(const Variable& input) { return RecordMap("sqrt", input, SqrtFunctor{}); }
Variable Rsqrt(const Variable& input) { return RecordMap("rsqrt", input, RsqrtFunctor{}); }
Variable Erf(const Variable& input) { return RecordMap("erf", input, ErfFunctor{}); }
Variable Abs(const Variable& input) { return RecordMap("abs", input, AbsFunctor{}); }

}  // namespace torus::ops
