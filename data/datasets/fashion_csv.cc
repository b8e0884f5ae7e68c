#include "data/datasets/fashion_csv.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "data/files/lines.h"
#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::data {
namespace {

constexpr int64_t kSide = 28, kNumbers = 1 + kSide * kSide;

// Reads the numbers of a line; returns whether there are kNumbers of them, from 0 to 255.
bool ReadNumbers(std::string_view text, uint8_t* out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t i = 0; i < kNumbers; ++i) {
    if (i > 0 && (at == end || *at++ != ',')) return false;
    const auto [stop, error] = std::from_chars(at, end, out[i]);
    if (error != std::errc()) return false;
    at = stop;
  }
  return at == end;
}

}  // namespace

CsvImages ReadFashionCsv(const std::string& path) {
  const std::string text = io::InputFile(path).ReadAll();
  const std::vector<Line> lines = LinesOf(text);
  Require(!lines.empty() && lines[0].text.starts_with("label"), path,
          "requires a first line of column names that begins with 'label', got '{}'",
          lines.empty() ? "" : lines[0].text.substr(0, 40));
  const auto count = static_cast<int64_t>(lines.size()) - 1;
  CsvImages all{Tensor({count, kSide, kSide}, DType::kU8), Tensor({count}, DType::kI64)};
  std::vector<uint8_t> numbers(kNumbers);
  for (int64_t i = 0; i < count; ++i) {
    const Line& line = lines[static_cast<size_t>(i) + 1];
    Require(ReadNumbers(line.text, numbers.data()), path,
            "line {}: requires {} numbers from 0 to 255 between commas, got '{}'", line.number,
            kNumbers, line.text.substr(0, 40));
    all.labels.mutable_data<int64_t>()[i] = numbers[0];
    std::copy(numbers.begin() + 1, numbers.end(),
              all.images.mutable_data<uint8_t>() + i * (kNumbers - 1));
  }
  return all;
}

}  // namespace torus::data
