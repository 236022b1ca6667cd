#pragma once

#include <cstdint>
#include <optional>
#include <vector>

class OsiClpSolverInterface;

namespace orrery {

// Maximise the sum of gain_j x_j over whole numbers 0 <= x_j <= most_j, with every row's sum of
// factors times x between its bounds.
class IntegerProgram {
 public:
  int add_column(double gain, int most);
  int add_row(double low, double high);
  void set(int row, int column, double factor);  // once for each pair

  int columns() const { return static_cast<int>(gains_.size()); }

  // A best solution. Nothing if there is none, or if none was proved best within this many nodes of
  // the search; that is a limit on work and not on time, so the answer is the same everywhere.
  std::optional<std::vector<int>> maximise(int nodes_max) const;
  // The same in real numbers, which no solution in whole ones is better than.
  std::optional<std::vector<double>> relax() const;

 private:
  void load(OsiClpSolverInterface& solver) const;

  struct Factor {
    int row = 0;
    int column = 0;
    double value = 0;
  };
  std::vector<double> gains_;
  std::vector<double> most_;
  std::vector<double> row_low_;
  std::vector<double> row_high_;
  std::vector<Factor> factors_;
};

}  // namespace orrery
