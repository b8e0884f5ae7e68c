#include "tools/labs/build_it_yourself/grader/plain_text.h"

#include "data/text/utf8.h"

namespace torus::tools::labs {
namespace {

bool IsPlain(char32_t c) {
  if (c < 0x20) return c == '\n' || c == '\t';
  return !(c >= 0x7f && c < 0xa0) && c != 0xfffe && c != 0xffff;
}

}  // namespace

std::string PlainText(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const data::CodePoint first = data::FirstCodePoint(text);
    const size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    if (first.bytes > 0 && IsPlain(first.value))
      plain += text.substr(0, bytes);
    else
      plain += '?';
    text.remove_prefix(bytes);
  }
  return plain;
}

std::string PlainParagraph(std::string_view text) {
  std::string paragraph;
  for (const char c : PlainText(text)) {
    paragraph += c;
    if (c == '\n') paragraph += "      | ";
  }
  return paragraph;
}

}  // namespace torus::tools::labs
