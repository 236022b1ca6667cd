#include "algorithms/integer_program/integer_program.h"

#include <cmath>

#include <CbcModel.hpp>
#include <CoinError.hpp>
#include <OsiClpSolverInterface.hpp>

namespace orrery {

int IntegerProgram::add_column(double gain, int most) {
  gains_.push_back(gain);
  most_.push_back(most);
  return static_cast<int>(gains_.size()) - 1;
}

int IntegerProgram::add_row(double low, double high) {
  row_low_.push_back(low);
  row_high_.push_back(high);
  return static_cast<int>(row_low_.size()) - 1;
}

void IntegerProgram::set(int row, int column, double factor) {
  factors_.push_back({row, column, factor});
}

void IntegerProgram::load(OsiClpSolverInterface& solver) const {
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> values;
  for (const Factor& factor : factors_) {
    rows.push_back(factor.row);
    columns.push_back(factor.column);
    values.push_back(factor.value);
  }
  const std::vector<double> none(gains_.size(), 0);
  std::vector<double> costs;  // the library minimises
  for (const double gain : gains_) costs.push_back(-gain);
  CoinPackedMatrix matrix(true, rows.data(), columns.data(), values.data(),
                          static_cast<CoinBigIndex>(values.size()));
  matrix.setDimensions(static_cast<int>(row_low_.size()), static_cast<int>(gains_.size()));
  solver.messageHandler()->setLogLevel(0);
  solver.loadProblem(matrix, none.data(), most_.data(), costs.data(), row_low_.data(),
                     row_high_.data());
}

std::optional<std::vector<int>> IntegerProgram::maximise(int nodes_max) const {
  if (gains_.empty()) return std::vector<int>();
  try {
    OsiClpSolverInterface relaxed;
    load(relaxed);
    for (int column = 0; column < columns(); ++column) relaxed.setInteger(column);
    CbcModel search(relaxed);
    search.setLogLevel(0);
    search.messageHandler()->setLogLevel(0);
    search.setMaximumNodes(nodes_max);
    search.branchAndBound();
    if (!search.isProvenOptimal()) return std::nullopt;
    std::vector<int> solution;
    for (int column = 0; column < columns(); ++column) {
      solution.push_back(static_cast<int>(std::lround(search.bestSolution()[column])));
    }
    return solution;
  } catch (const CoinError&) {
    return std::nullopt;
  }
}

std::optional<std::vector<double>> IntegerProgram::relax() const {
  if (gains_.empty()) return std::vector<double>();
  try {
    OsiClpSolverInterface solver;
    load(solver);
    solver.initialSolve();
    if (!solver.isProvenOptimal()) return std::nullopt;
    const double* solution = solver.getColSolution();
    return std::vector<double>(solution, solution + columns());
  } catch (const CoinError&) {
    return std::nullopt;
  }
}

}  // namespace orrery
