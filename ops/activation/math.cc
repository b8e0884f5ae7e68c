#include "ops/activation/math.h"

#include "ops/activation/record_map.h"

namespace torus::ops {

Variable Exp(const Variable& input) { return RecordMap("exp", input, ExpFunctor{}); }
Variable Log(const Variable& input) { return RecordMap("log", input, LogFunctor{}); }
Variable Sqrt(const Variable& input) { return RecordMap("sqrt", input, SqrtFunctor{}); }
Variable Rsqrt(const Variable& input) { return RecordMap("rsqrt", input, RsqrtFunctor{}); }
Variable Abs(const Variable& input) { return RecordMap("abs", input, AbsFunctor{}); }

}  // namespace torus::ops
