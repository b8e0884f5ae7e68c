// Attention: the query is the case's `input`.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention.h"
#include "tools/replay/compare.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// What rounding does to one score, in units of eps: a product's rows sum `width` terms, and the
// error enters a weight's exponent, so the result is off by as much of the largest value.
double ScoreSize(const Variable& query, const Variable& key, double scale) {
  return std::fabs(scale) * std::sqrt(static_cast<double>(std::max<int64_t>(1, query.dim(-1)))) *
         LargestMagnitude(query.data()) * LargestMagnitude(key.data());
}

OpRun Attention(Arguments& a) {
  const Variable query = a.Take("input"), key = a.Take("key"), value = a.Take("value");
  ops::AttentionOptions options{.attn_mask = a.Optional("attn_mask"),
                                .is_causal = a.attrs().Flag("is_causal", false),
                                .scale = a.attrs().OptionalNumber("scale"),
                                .enable_gqa = a.attrs().Flag("enable_gqa", false)};
  if (a.attrs().Number("dropout_p", 0) != 0)
    Throw<Unsupported>(a.op(), "dropout of the reference's own random numbers");
  const Variable y = ops::ScaledDotProductAttention(query, key, value, options);
  const int64_t keys = key.dim(-2), rows = query.dim(-2);
  OpRun run{.outputs = {y}, .terms = y.numel() * keys, .factors = {"value"}};
  // A gradient element is a sum over keys or over rows, of each head of a group.
  run.least = std::max(keys, rows * (query.rank() > 2 ? query.dim(-3) : 1)) + query.dim(-1);
  run.coefficient =
      1 + ScoreSize(query, key,
                    options.scale.value_or(1 / std::sqrt(static_cast<double>(query.dim(-1)))));
  return run;
}

}  // namespace

void AddAttention(OpTable& table) { table["scaled_dot_product_attention"] = Attention; }

}  // namespace torus::replay
