#include "data/text/pattern.h"

#include <new>
#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "runtime/error.h"

namespace torus::data {
namespace {

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

struct Pattern::Code {
  pcre2_code* code = nullptr;

  explicit Code(const char* expression) {
    int error = 0;
    PCRE2_SIZE where = 0;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression), PCRE2_ZERO_TERMINATED,
                         PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &where, nullptr);
    if (code == nullptr && IsLackOfMemory(error)) throw std::bad_alloc();
    TORUS_CHECK(code != nullptr, "at {}: {}", where, MessageOf(error));
    // If the system forbids it, the interpreter gives the same matches.
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  }
  ~Code() { pcre2_code_free(code); }
};

Pattern::Pattern(const char* expression) : code_(std::make_unique<Code>(expression)) {}
Pattern::~Pattern() = default;

struct Pattern::Matcher::State {
  const pcre2_code* code;
  pcre2_match_data* match;

  explicit State(const pcre2_code* the_code)
      : code(the_code), match(pcre2_match_data_create(1, nullptr)) {
    if (match == nullptr) throw std::bad_alloc();
  }
  ~State() { pcre2_match_data_free(match); }
};

Pattern::Matcher::Matcher(const Pattern& pattern)
    : state_(std::make_unique<State>(pattern.code_->code)) {}
Pattern::Matcher::~Matcher() = default;

size_t Pattern::Matcher::EndAt(std::string_view text, size_t at) {
  const int found = pcre2_match(state_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                text.size(), at, PCRE2_NO_UTF_CHECK, state_->match, nullptr);
  if (found == PCRE2_ERROR_NOMATCH) return at;
  if (IsLackOfMemory(found)) throw std::bad_alloc();
  TORUS_CHECK(found > 0, "byte {}: {}", at, MessageOf(found));
  return pcre2_get_ovector_pointer(state_->match)[1];
}

}  // namespace torus::data
