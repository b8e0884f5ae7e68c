#include "data/text/tokens.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"

namespace torus::data {

void CheckTokenRange(const Tokens& tokens, int64_t begin, int64_t count) {
  Require(begin >= 0 && count >= 0 && begin <= tokens.size() && count <= tokens.size() - begin,
          tokens.name(), "requires a range within {} tokens, got {} from {}", tokens.size(), count,
          begin);
}

TokenVector::TokenVector(std::string name, int64_t vocabulary, std::vector<int32_t> ids)
    : name_(std::move(name)), vocabulary_(vocabulary), ids_(std::move(ids)) {
  const auto bad =
      std::ranges::find_if(ids_, [&](int32_t id) { return id < 0 || id >= vocabulary; });
  if (bad != ids_.end()) {
    Throw<BadInput>(name_, "requires tokens of 0 to {}, got {} at {}", vocabulary - 1, *bad,
                    bad - ids_.begin());
  }
}

void TokenVector::Copy(int64_t begin, int64_t count, int64_t* out) const {
  CheckTokenRange(*this, begin, count);
  std::copy_n(ids_.begin() + begin, count, out);
}

TokenPart::TokenPart(const Tokens& whole, int64_t begin, int64_t count)
    : whole_(whole), begin_(begin), count_(count) {
  CheckTokenRange(whole, begin, count);
}

void TokenPart::Copy(int64_t begin, int64_t count, int64_t* out) const {
  CheckTokenRange(*this, begin, count);
  whole_.Copy(begin_ + begin, count, out);
}

}  // namespace torus::data
