// A published table, as its authors printed it: tab-separated, the columns in the first line, an
// empty cell where they left it empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torus::experiments {

class Published {
 public:
  // BadInput naming `name` and the line for a row of other columns.
  Published(std::string name, std::string_view tsv);

  size_t rows() const { return rows_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  // BadInput for a column that the table has not.
  const std::string& Text(size_t row, std::string_view column) const;
  // None for an empty cell; BadInput for one that is no number.
  std::optional<double> Number(size_t row, std::string_view column) const;
  // A whole number that must be there.
  int Whole(size_t row, std::string_view column) const;

 private:
  const std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace torus::experiments
