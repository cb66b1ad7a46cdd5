// optim/matrix_product.cpp: packed panels and register tiles; see matrix_product.h for the order.
#include "optim/matrix_product.h"

#include <algorithm>

#include "optim/transpose.h"
#include "optim/vector_register.h"

namespace optim {
namespace {

// How many rows of the panel one pass over it multiplies: 128 rows of the widest panel fill half of
// a level-1 cache of 48 KiB.
constexpr std::size_t kDepthAtOnce = 128;

struct TileShape {
  std::size_t depth;
  std::size_t left_stride;    // between the rows of the tile, or between steps of depth
  std::size_t panel_stride;
  std::size_t output_stride;
  std::size_t last_columns;   // of the last register of a row
};

template <std::size_t V>
Register load_columns(const TileShape& shape, std::size_t v, const float* row) {
  return v + 1 < V ? load_register(row + v * kWide)
                   : load_register(row + v * kWide, shape.last_columns);
}

// R rows of V registers. `kByColumn`: the left factor is transposed, so that the R values of one
// step lie side by side.
template <std::size_t R, std::size_t V, bool kByColumn>
void tile(const TileShape& shape, const float* left, const float* panel, SumStart start,
          float* output) {
  Register sums[R][V];
  for (std::size_t v = 0; v < V; ++v) {
    const Register bias =
        start.bias == nullptr ? zero_register() : load_columns<V>(shape, v, start.bias);
    for (std::size_t r = 0; r < R; ++r) {
      sums[r][v] = bias;
      if (!start.keep) continue;
      const Register kept = load_columns<V>(shape, v, output + r * shape.output_stride);
      sums[r][v] = start.bias == nullptr ? kept : kept + bias;
    }
  }
  const std::size_t step = kByColumn ? shape.left_stride : 1;
  const std::size_t across = kByColumn ? 1 : shape.left_stride;
  for (std::size_t k = 0; k < shape.depth; ++k) {
    Register row[V];
    for (std::size_t v = 0; v < V; ++v) row[v] = load_register(panel + v * kWide);
    panel += shape.panel_stride;
    for (std::size_t r = 0; r < R; ++r) {
      const Register value = broadcast(left[k * step + r * across]);
      for (std::size_t v = 0; v < V; ++v) sums[r][v] = fused(value, row[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    float* const to = output + r * shape.output_stride;
    for (std::size_t v = 0; v + 1 < V; ++v) store_register(to + v * kWide, sums[r][v]);
    store_register(to + (V - 1) * kWide, sums[r][V - 1], shape.last_columns);
  }
}

// Rows per tile: as many sums as registers allow, and at most 8 pointers to rows.
constexpr std::size_t tile_rows(std::size_t v) {
  if (kWide == 16) return v == 4 ? 6 : 8;
  return v == 1 ? 8 : v == 2 ? 6 : 4;
}

template <std::size_t V, bool kByColumn>
void tiles(const TileShape& shape, std::size_t rows, const float* left, const float* panel,
           SumStart start, float* output) {
  const std::size_t across = kByColumn ? 1 : shape.left_stride;
  std::size_t r = 0;
  const auto run = [&]<std::size_t R>() {
    for (; r + R <= rows; r += R) {
      tile<R, V, kByColumn>(shape, left + r * across, panel, start,
                            output + r * shape.output_stride);
    }
  };
  run.template operator()<tile_rows(V)>();
  run.template operator()<4>();
  run.template operator()<2>();
  run.template operator()<1>();
}

template <bool kByColumn>
void tiles_of_width(std::size_t registers, const TileShape& shape, std::size_t rows,
                    const float* left, const float* panel, SumStart start, float* output) {
  switch (registers) {
    case 1: return tiles<1, kByColumn>(shape, rows, left, panel, start, output);
    case 2: return tiles<2, kByColumn>(shape, rows, left, panel, start, output);
    case 3: return tiles<3, kByColumn>(shape, rows, left, panel, start, output);
    default: return tiles<kMostRegisters, kByColumn>(shape, rows, left, panel, start, output);
  }
}

// How the registers of a row are shared out over panels: evenly, the wider ones first.
struct Partition {
  std::size_t panels, registers;

  explicit Partition(std::size_t columns) : registers((columns + kWide - 1) / kWide) {
    panels = kWide == 16 ? (registers + 3) / 4 : std::max<std::size_t>(1, registers / 2);
  }
  std::size_t width(std::size_t panel) const {
    return registers / panels + (panel < registers % panels ? 1 : 0);
  }
};

// Row k of the panel is factor row k, columns [column, column + count), then zeros.
void pack_panel(const MatrixView& factor, std::size_t depth, std::size_t column, std::size_t count,
                std::size_t width, float* room) {
  const float* const from = factor.data + column * factor.column_stride;
  if (factor.column_stride == 1) {
    for (std::size_t k = 0; k < depth; ++k) {
      const float* const row = from + k * factor.row_stride;
      float* const to = room + k * width;
      std::size_t j = 0;
      for (; j + kWide <= count; j += kWide) store_register(to + j, load_register(row + j));
      if (j < width) store_register(to + j, load_register(row + j, count - j));
    }
    return;
  }
  pack_transposed(from, factor.column_stride, depth, count, width, room);
}

// Every panel of a piece of the depth that one pass takes.
void multiply_panels(const MatrixView& left, std::size_t rows, const Panels& right,
                     const ProductPart& piece, SumStart start, float* output,
                     std::size_t output_stride) {
  const Partition partition(right.columns);
  const bool by_column = left.column_stride != 1;
  std::size_t column = 0;
  for (std::size_t panel = 0; panel < partition.panels && column < piece.columns; ++panel) {
    const std::size_t registers = partition.width(panel), width = registers * kWide;
    const std::size_t stride = right.row_stride == 0 ? width : right.row_stride;
    const float* const from = right.data + column * right.depth + piece.first_depth * stride;
    const std::size_t last = std::min(width, right.columns - column) - (registers - 1) * kWide;
    const TileShape shape{piece.depth_count, by_column ? left.column_stride : left.row_stride,
                          stride, output_stride, last};
    const SumStart at{start.keep, start.bias == nullptr ? nullptr : start.bias + column};
    if (by_column) {
      tiles_of_width<true>(registers, shape, rows, left.data, from, at, output + column);
    } else {
      tiles_of_width<false>(registers, shape, rows, left.data, from, at, output + column);
    }
    column += width;
  }
}

// A transposed left factor whose steps of depth lie far apart: 48 rows at a time are gathered first,
// or each step would touch another page, and a power of two between them one and the same set of the
// cache.
constexpr std::size_t kFarApart = 96;
constexpr std::size_t kRowsGathered = 48;

void multiply_gathered(const MatrixView& left, std::size_t rows, const Panels& right,
                       const ProductPart& piece, SumStart start, float* output,
                       std::size_t output_stride) {
  alignas(64) float gathered[kDepthAtOnce * kRowsGathered];
  for (std::size_t first = 0; first < rows; first += kRowsGathered) {
    const std::size_t count = std::min(kRowsGathered, rows - first);
    for (std::size_t k = 0; k < piece.depth_count; ++k) {
      const float* const from = left.data + first + k * left.column_stride;
      float* const to = gathered + k * kRowsGathered;
      if (count == kRowsGathered) {
        std::copy_n(from, kRowsGathered, to);  // a fixed number: a few registers, no call
      } else {
        std::copy_n(from, count, to);
      }
    }
    multiply_panels({gathered, 1, kRowsGathered}, count, right, piece, start,
                    output + first * output_stride, output_stride);
  }
}

}  // namespace

std::size_t packed_floats(std::size_t depth, std::size_t columns) {
  return depth * Partition(columns).registers * kWide;
}

Panels pack(const MatrixView& factor, std::size_t depth, std::size_t columns, float* room) {
  const Partition partition(columns);
  const bool is_panel =
      factor.column_stride == 1 && partition.panels == 1 && columns % kWide == 0;
  if (is_panel) return {factor.data, depth, columns, factor.row_stride};
  float* to = room;
  std::size_t column = 0;
  for (std::size_t panel = 0; panel < partition.panels; ++panel) {
    const std::size_t width = partition.width(panel) * kWide;
    pack_panel(factor, depth, column, std::min(width, columns - column), width, to);
    column += width;
    to += depth * width;
  }
  return {room, depth, columns, 0};
}

void multiply(const MatrixView& left, std::size_t rows, const Panels& right, SumStart start,
              float* output, std::size_t output_stride) {
  multiply(left, rows, right, {0, right.depth, right.columns}, start, output, output_stride);
}

void multiply(const MatrixView& left, std::size_t rows, const Panels& right,
              const ProductPart& part, SumStart start, float* output, std::size_t output_stride) {
  const bool by_column = left.column_stride != 1;
  const std::size_t step = by_column ? left.column_stride : 1;
  for (std::size_t done = 0; done < part.depth_count || done == 0; done += kDepthAtOnce) {
    const ProductPart piece{part.first_depth + done,
                            std::min(kDepthAtOnce, part.depth_count - done), part.columns};
    const MatrixView from{left.data + done * step, left.row_stride, left.column_stride};
    if (by_column && left.column_stride >= kFarApart) {
      multiply_gathered(from, rows, right, piece, start, output, output_stride);
    } else {
      multiply_panels(from, rows, right, piece, start, output, output_stride);
    }
    start = {.keep = true};
  }
}

}  // namespace optim
