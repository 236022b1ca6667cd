#pragma once

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace orrery {

// For tests: the rows of a file of reference figures, as column -> cell. None where there is no
// such file.
using ReferenceRow = std::map<std::string, std::string>;

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

inline std::vector<ReferenceRow> reference_rows(const std::string& path) {
  std::vector<ReferenceRow> rows;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = cells_of(line);
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    ReferenceRow row;
    for (std::size_t i = 0; i < cells.size() && i < header.size(); ++i) row[header[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

// A name that a test may have.
inline std::string identifier(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

}  // namespace orrery
