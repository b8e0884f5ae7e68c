// The rules of rows that hold several documents: each token has the number of its document, or 0 if
// it is padding.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus::ops {

// Whether a token of document `query` may attend to an earlier one, or to itself, of document
// `key`: within a document; padding to every document.
TORUS_HOST_DEVICE inline bool SeesDocument(int64_t query, int64_t key) {
  return key != 0 && (query == key || query == 0);
}

// The position of `token` in its document, padding counted like its tokens. `row`: documents.
TORUS_HOST_DEVICE inline int64_t PositionInDocument(const int64_t* row, int64_t token) {
  int64_t own = 0, begin = token;  // own: 0 until a token that is no padding is found
  for (int64_t t = token; t >= 0; --t) {
    if (row[t] == 0) continue;
    if (own == 0) own = row[t];
    if (row[t] != own) return token - begin;
    begin = t;
  }
  return token;
}

}  // namespace torus::ops
