// tests/optim/plain_transformer.h: a decoder-only transformer in double, one position at a time.
//
// The second opinion on optim/transformer_model: it reads parameters by tensor name, walks each
// sequence position by position through all blocks as a decoder with a cache of keys and values does,
// and so cannot look ahead. Nothing is shared with the real one but the names and shapes of tensors.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "optim/batch.h"
#include "optim/model.h"

namespace optim {

class PlainTransformer {
 public:
  using Doubles = std::vector<double>;

  PlainTransformer(const std::vector<Tensor>& tensors, std::size_t heads) : heads_(heads) {
    for (const Tensor& tensor : tensors) tensors_[tensor.name] = tensor;
    width_ = tensors_.at("embedding").cols;
    context_ = tensors_.at("position").rows;
  }

  // Cross entropy at every position of every sequence.
  Doubles losses(const Doubles& parameters, const Batch& batch) {
    parameters_ = &parameters;
    Doubles all;
    for (std::size_t b = 0; b < batch.examples; ++b) {
      keys_.clear();
      values_.clear();
      for (std::size_t t = 0; t < context_; ++t) {
        const auto symbol = static_cast<std::size_t>(batch.tokens[b * context_ + t]);
        const auto target = static_cast<std::size_t>(batch.targets[b * context_ + t]);
        all.push_back(loss_at(t, symbol, target));
      }
    }
    return all;
  }

  // Sum over sequences of the mean over positions.
  double loss(const Doubles& parameters, const Batch& batch) {
    double sum = 0.0;
    for (const double loss : losses(parameters, batch)) sum += loss;
    return sum / static_cast<double>(context_);
  }

 private:
  const double* values_of(const std::string& name) const {
    return parameters_->data() + tensors_.at(name).offset;
  }

  Doubles affine(const std::string& name, const Doubles& x) const {
    Doubles y(tensors_.at(name + ".weight").cols);
    const double* const weight = values_of(name + ".weight");
    const double* const bias = values_of(name + ".bias");
    for (std::size_t j = 0; j < y.size(); ++j) {
      y[j] = bias[j];
      for (std::size_t i = 0; i < x.size(); ++i) y[j] += x[i] * weight[i * y.size() + j];
    }
    return y;
  }

  Doubles norm(const std::string& name, const Doubles& x) const {
    double mean = 0.0, square = 0.0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x) square += value * value / static_cast<double>(x.size());
    Doubles y(x.size());
    const double* const gain = values_of(name + ".gain");
    const double* const bias = values_of(name + ".bias");
    for (std::size_t j = 0; j < x.size(); ++j) {
      y[j] = (x[j] - mean) / std::sqrt(square - mean * mean + 1e-5) * gain[j] + bias[j];
    }
    return y;
  }

  Doubles attend(const std::string& block, const Doubles& x) {
    const Doubles qkv = affine(block + "qkv", norm(block + "norm1", x));
    keys_[block].push_back(Doubles(qkv.begin() + static_cast<long>(width_),
                                   qkv.begin() + static_cast<long>(2 * width_)));
    values_[block].push_back(Doubles(qkv.begin() + static_cast<long>(2 * width_), qkv.end()));
    const std::size_t head_width = width_ / heads_;
    Doubles mixed(width_, 0.0);
    for (std::size_t head = 0; head < heads_; ++head) {
      Doubles weights;
      double total = 0.0;
      for (const Doubles& key : keys_[block]) {
        double score = 0.0;
        for (std::size_t j = head * head_width; j < (head + 1) * head_width; ++j) {
          score += qkv[j] * key[j];
        }
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head_width))));
        total += weights.back();
      }
      for (std::size_t s = 0; s < weights.size(); ++s) {
        for (std::size_t j = head * head_width; j < (head + 1) * head_width; ++j) {
          mixed[j] += weights[s] / total * values_[block][s][j];
        }
      }
    }
    return affine(block + "attention", mixed);
  }

  double loss_at(std::size_t t, std::size_t symbol, std::size_t target) {
    Doubles x(width_);
    const double* const embedding = values_of("embedding");
    const double* const position = values_of("position");
    for (std::size_t j = 0; j < width_; ++j) {
      x[j] = embedding[symbol * width_ + j] + position[t * width_ + j];
    }
    for (std::size_t layer = 0;; ++layer) {
      const std::string block = "block" + std::to_string(layer) + ".";
      if (tensors_.count(block + "norm1.gain") == 0) break;
      const Doubles mixed = attend(block, x);
      for (std::size_t j = 0; j < width_; ++j) x[j] += mixed[j];
      Doubles wide = affine(block + "wide", norm(block + "norm2", x));
      for (double& u : wide) {
        u = 0.5 * u * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (u + 0.044715 * u * u * u)));
      }
      const Doubles narrow = affine(block + "narrow", wide);
      for (std::size_t j = 0; j < width_; ++j) x[j] += narrow[j];
    }
    x = norm("final", x);
    double sum = 0.0, chosen = 0.0;
    for (std::size_t v = 0; v < tensors_.at("embedding").rows; ++v) {
      double logit = 0.0;
      for (std::size_t j = 0; j < width_; ++j) logit += x[j] * embedding[v * width_ + j];
      sum += std::exp(logit);
      if (v == target) chosen = logit;
    }
    return std::log(sum) - chosen;
  }

  std::map<std::string, Tensor> tensors_;
  std::size_t heads_, width_, context_;
  const Doubles* parameters_ = nullptr;
  std::map<std::string, std::vector<Doubles>> keys_, values_;
};

}  // namespace optim
