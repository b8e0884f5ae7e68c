#include "data/text/gpt2_pattern.h"

#include "runtime/error.h"

namespace torus::data {
namespace {

// \s is written out as the property White_Space: all separators, and the control characters below.
#define TORUS_SPACE R"(\p{Z}\t-\r\x{85})"
#define TORUS_WORDS R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|)"
#define TORUS_OTHERS R"(| ?[^)" TORUS_SPACE R"(\p{L}\p{N}]+|[)" TORUS_SPACE R"(]+)"
#define TORUS_SPACES "|[" TORUS_SPACE "]+"

constexpr char kAsWords[] =
    TORUS_WORDS R"( ?\p{N}+)" TORUS_OTHERS "(?![^" TORUS_SPACE "])" TORUS_SPACES;
// A number ends the text before it: white space in front of one has nothing behind it.
#define TORUS_BEFORE_NUMBERS TORUS_OTHERS "(?![^" TORUS_SPACE R"(\p{N}]))" TORUS_SPACES
constexpr char kRuns[] = TORUS_WORDS R"(\p{N}+)" TORUS_BEFORE_NUMBERS;
constexpr char kSingly[] = TORUS_WORDS R"(\p{N})" TORUS_BEFORE_NUMBERS;

constexpr char kInThrees[] = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
                             R"(| ?[^)" TORUS_SPACE R"(\p{L}\p{N}]+[\r\n]*|[)" TORUS_SPACE
                             R"(]*[\r\n]+|[)" TORUS_SPACE "]+(?![^" TORUS_SPACE "])" TORUS_SPACES;

#undef TORUS_SPACE
#undef TORUS_WORDS
#undef TORUS_OTHERS
#undef TORUS_SPACES
#undef TORUS_BEFORE_NUMBERS

const char* ExpressionOf(NumberCut numbers) {
  if (numbers == NumberCut::kAsWords) return kAsWords;
  if (numbers == NumberCut::kInThrees) return kInThrees;
  return numbers == NumberCut::kRuns ? kRuns : kSingly;
}

}  // namespace

Gpt2Pattern::Gpt2Pattern(NumberCut numbers) : pattern_(ExpressionOf(numbers)) {}

Gpt2Pattern::Scanner::Scanner(const Gpt2Pattern& pattern, std::string_view text)
    : matcher_(pattern.pattern_), text_(text) {}

// Every character begins a match, so each match begins where the last one ended.
bool Gpt2Pattern::Scanner::Next(std::string_view* piece) {
  if (at_ == text_.size()) return false;
  const size_t end = matcher_.EndAt(text_, at_);
  TORUS_CHECK(end > at_ && end <= text_.size(), "an empty match at byte {}", at_);
  *piece = text_.substr(at_, end - at_);
  at_ = end;
  return true;
}

}  // namespace torus::data
