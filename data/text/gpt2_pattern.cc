#include "data/text/gpt2_pattern.h"

#include <algorithm>
#include <new>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "runtime/error.h"

namespace torus::data {
namespace {

// \s is written out as the property White_Space: all separators, and the control characters below.
#define TORUS_SPACE R"(\p{Z}\t-\r\x{85})"
constexpr char kPattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" TORUS_SPACE R"(\p{L}\p{N}]+|[)" TORUS_SPACE
    R"(]+(?![^)" TORUS_SPACE R"(])|[)" TORUS_SPACE R"(]+)";
#undef TORUS_SPACE

std::string MessageOf(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// Lack of memory is the machine's fault, not a bug.
bool IsLackOfMemory(int error) {
  return error == PCRE2_ERROR_HEAP_FAILED || error == PCRE2_ERROR_NOMEMORY ||
         error == PCRE2_ERROR_HEAPLIMIT;
}

}  // namespace

struct Gpt2Pattern::Code {
  pcre2_code* code = nullptr;

  Code() {
    int error = 0;
    PCRE2_SIZE where = 0;
    // Every character begins a match, so each match is anchored where the last one ended.
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern), PCRE2_ZERO_TERMINATED,
                         PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &where, nullptr);
    if (code == nullptr && IsLackOfMemory(error)) throw std::bad_alloc();
    TORUS_CHECK(code != nullptr, "at {}: {}", where, MessageOf(error));
    // If the system forbids it, the interpreter gives the same matches.
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  }
  ~Code() { pcre2_code_free(code); }
};

Gpt2Pattern::Gpt2Pattern() : code_(std::make_unique<Code>()) {}
Gpt2Pattern::~Gpt2Pattern() = default;

struct Gpt2Pattern::Scanner::State {
  const pcre2_code* code;
  std::string_view text;
  size_t at = 0;
  pcre2_match_data* match;

  State(const pcre2_code* the_code, std::string_view the_text)
      : code(the_code), text(the_text), match(pcre2_match_data_create(1, nullptr)) {
    if (match == nullptr) throw std::bad_alloc();
  }
  ~State() { pcre2_match_data_free(match); }
};

Gpt2Pattern::Scanner::Scanner(const Gpt2Pattern& pattern, std::string_view text)
    : state_(std::make_unique<State>(pattern.code_->code, text)) {}
Gpt2Pattern::Scanner::~Scanner() = default;

bool Gpt2Pattern::Scanner::Next(std::string_view* piece) {
  State& s = *state_;
  if (s.at == s.text.size()) return false;
  const int found = pcre2_match(s.code, reinterpret_cast<PCRE2_SPTR>(s.text.data()), s.text.size(),
                                s.at, PCRE2_NO_UTF_CHECK, s.match, nullptr);
  if (IsLackOfMemory(found)) throw std::bad_alloc();
  TORUS_CHECK(found > 0, "byte {}: {}", s.at, MessageOf(found));
  const size_t end = pcre2_get_ovector_pointer(s.match)[1];
  TORUS_CHECK(end > s.at && end <= s.text.size(), "an empty match at byte {}", s.at);
  *piece = s.text.substr(s.at, end - s.at);
  s.at = end;
  return true;
}

}  // namespace torus::data
