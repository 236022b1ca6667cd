#include <svm.h>

#include <cmath>
#include <vector>

#include "cloud/models/step_time.h"

namespace orrery {
namespace {

void print_nothing(const char*) {}

}  // namespace

// libsvm's model points into the samples that it was made of.
struct SupportVectors::Model {
  std::vector<svm_node> nodes;  // each sample's feature and the mark of its end
  std::vector<svm_node*> rows;
  std::vector<double> values;
  svm_model* model = nullptr;

  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { svm_free_and_destroy_model(&model); }
};

Result<SupportVectors> SupportVectors::fit(std::span<const FitPoint> points,
                                           const Options& options) {
  if (points.empty()) return Error{Code::FailedPrecondition, "a fit needs samples"};
  svm_set_print_string_function(&print_nothing);
  auto made = std::make_shared<Model>();
  for (const FitPoint& point : points) {
    made->nodes.push_back({1, point.x});
    made->nodes.push_back({-1, 0});
    made->values.push_back(point.y);
  }
  for (std::size_t i = 0; i < points.size(); ++i) made->rows.push_back(&made->nodes[2 * i]);
  svm_problem problem{static_cast<int>(points.size()), made->values.data(), made->rows.data()};
  svm_parameter parameter{};
  parameter.svm_type = EPSILON_SVR;
  parameter.kernel_type = options.kernel == Kernel::Radial ? RBF : POLY;
  parameter.degree = 2;
  parameter.gamma = 1;
  parameter.coef0 = options.kernel == Kernel::Radial ? 0 : 1;
  parameter.C = options.cost;
  parameter.p = options.tube;
  parameter.eps = 1e-3;
  parameter.cache_size = 200;
  parameter.shrinking = 1;
  if (const char* fault = svm_check_parameter(&problem, &parameter); fault != nullptr) {
    return invalid(fault);
  }
  made->model = svm_train(&problem, &parameter);
  return SupportVectors(std::move(made));
}

double SupportVectors::at(double x) const {
  const svm_node row[2] = {{1, x}, {-1, 0}};
  return svm_predict(model_->model, row);
}

}  // namespace orrery
