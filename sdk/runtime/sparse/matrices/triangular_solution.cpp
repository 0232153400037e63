#include "sdk/runtime/sparse/matrices/triangular_solution.h"

#include <algorithm>
#include <numeric>

#include "sdk/runtime/sparse/matrices/row_matrix.h"

namespace primset::runtime {
namespace {

// A row waits for those that its entries name. Rows that wait for no more than rows of earlier
// levels are a level, which is solved at once: as many steps as the longest chain of rows that wait
// for each other. (Anderson and Saad, Solving sparse triangular linear systems on parallel
// computers, 1989.) The levels depend on where entries are, which the host reads.
class Levels {
 public:
  Levels(const RowMatrix& m, bool upper) : upper_(upper) {
    const Tensor pointers = op("to.dtype", m.pointers, DType::i64).cpu(),
                 columns = op("to.dtype", m.columns, DType::i64).cpu();
    pointers_ = pointers.to_vector<int64_t>(), columns_ = columns.to_vector<int64_t>();
    require_indices();
    order_rows();
    list_entries();
  }

  size_t count() const { return first_row.size() - 1; }

  // Rows level by level, and where each level's begin. place[row] is where the row is in that
  // order.
  std::vector<int64_t> rows, place, first_row;
  // The entries beside the diagonal in the order of rows: which of m's, and the places of their
  // columns.
  std::vector<int64_t> entries, columns;
  // For each level where its rows' entries begin among its own, and a last end; where it begins.
  std::vector<int64_t> row_pointers, first_entry;
  // Entries on the diagonal, and the places of their rows.
  std::vector<int64_t> diagonal, diagonal_places;

 private:
  int64_t height() const { return static_cast<int64_t>(pointers_.size()) - 1; }
  size_t begin(int64_t row) const {
    return static_cast<size_t>(pointers_[static_cast<size_t>(row)]);
  }
  size_t end(int64_t row) const { return begin(row + 1); }
  bool counts(int64_t row, int64_t column) const { return upper_ ? column > row : column < row; }

  // The host follows them, and must not be led astray.
  void require_indices() const {
    const auto entries = static_cast<int64_t>(columns_.size());
    const bool fit =
        pointers_.front() >= 0 && pointers_.back() <= entries &&
        std::ranges::is_sorted(pointers_) &&
        std::ranges::all_of(columns_, [&](int64_t c) { return c >= 0 && c < height(); });
    if (!fit)
      throw Error(ErrorCode::index,
                  fmt::format("triangular_solve: expected pointers that ascend from 0 to {} and "
                              "indices below {} in A",
                              entries, height()));
  }

  void order_rows() {
    const int64_t n = height();
    std::vector<int64_t> level(static_cast<size_t>(n));
    int64_t levels = n > 0 ? 1 : 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = upper_ ? n - 1 - i : i;
      int64_t& own = level[static_cast<size_t>(row)];
      for (size_t e = begin(row); e < end(row); ++e) {
        if (counts(row, columns_[e]))
          own = std::max(own, level[static_cast<size_t>(columns_[e])] + 1);
      }
      levels = std::max(levels, own + 1);
    }
    first_row.assign(static_cast<size_t>(levels) + 1, 0);
    for (const int64_t l : level) ++first_row[static_cast<size_t>(l) + 1];
    std::partial_sum(first_row.begin(), first_row.end(), first_row.begin());
    std::vector<int64_t> next(first_row.begin(), first_row.end() - 1);
    rows.resize(level.size()), place.resize(level.size());
    for (size_t row = 0; row < level.size(); ++row) {
      place[row] = next[static_cast<size_t>(level[row])]++;
      rows[static_cast<size_t>(place[row])] = static_cast<int64_t>(row);
    }
  }

  void list_entries() {
    for (size_t l = 0; l < count(); ++l) {
      first_entry.push_back(static_cast<int64_t>(entries.size()));
      row_pointers.push_back(0);
      for (int64_t at = first_row[l]; at < first_row[l + 1]; ++at) {
        list_row(rows[static_cast<size_t>(at)], at);
        row_pointers.push_back(static_cast<int64_t>(entries.size()) - first_entry.back());
      }
    }
    first_entry.push_back(static_cast<int64_t>(entries.size()));
  }

  void list_row(int64_t row, int64_t at) {
    for (size_t e = begin(row); e < end(row); ++e) {
      const int64_t column = columns_[e];
      if (counts(row, column)) {
        entries.push_back(static_cast<int64_t>(e));
        columns.push_back(place[static_cast<size_t>(column)]);
      } else if (column == row) {
        diagonal.push_back(static_cast<int64_t>(e));
        diagonal_places.push_back(at);
      }
    }
  }

  bool upper_;
  std::vector<int64_t> pointers_, columns_;
};

Tensor indices_on(const Tensor& like, const std::vector<int64_t>& list) {
  return Tensor::of(std::span<const int64_t>(list), {static_cast<int64_t>(list.size())},
                    like.device());
}

Tensor chosen(const Tensor& t, const std::vector<int64_t>& at) {
  return op("index_select", t, int64_t{0}, indices_on(t, at));
}

Tensor piece(const Tensor& t, int64_t begin, int64_t end) {
  return op("slice.Tensor", t, int64_t{0}, begin, end);
}

// [rows, 1]: a row without an entry on the diagonal has a zero there.
Tensor diagonal_of(const RowMatrix& m, const Levels& levels) {
  const Tensor zeros = op("new_zeros", m.values, IntList{m.rows});
  const Tensor filled =
      op("index_add", zeros, int64_t{0}, indices_on(zeros, levels.diagonal_places),
         chosen(m.values, levels.diagonal));
  return op("unsqueeze", filled, int64_t{1});
}

}  // namespace

// x in the order of levels begins as b. What rows wait for is solved when a level is reached.
Tensor triangular_solution(const Tensor& a, const Tensor& b, const Triangle& triangle) {
  const RowMatrix given = row_matrix(a);
  const RowMatrix m = by_rows(triangle.transpose ? transpose_of(given) : given);
  const Levels levels(m, triangle.upper != triangle.transpose);
  const Tensor x = chosen(b, levels.rows), values = chosen(m.values, levels.entries),
               columns = indices_on(b, levels.columns),
               pointers = indices_on(b, levels.row_pointers);
  const Tensor diagonal = triangle.unit ? Tensor() : diagonal_of(m, levels);
  for (size_t l = 0; l < levels.count(); ++l) {
    const int64_t row = levels.first_row[l], rows_end = levels.first_row[l + 1];
    const int64_t entry = levels.first_entry[l], entries_end = levels.first_entry[l + 1];
    const Tensor own = piece(x, row, rows_end);
    if (entries_end > entry) {
      // Each level before it has one pointer more than rows.
      const int64_t pointer = row + static_cast<int64_t>(l);
      const RowMatrix before{piece(values, entry, entries_end),
                             piece(pointers, pointer, pointer + rows_end - row + 1),
                             piece(columns, entry, entries_end), rows_end - row, m.width};
      op("sub_.Tensor", own, times(before, x));
    }
    if (diagonal.defined()) op("div_.Tensor", own, piece(diagonal, row, rows_end));
  }
  return chosen(x, levels.place);
}

}  // namespace primset::runtime
