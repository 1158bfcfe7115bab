/* SPDX-License-Identifier: MIT */
/* Columns: a column is a contiguous array of reals (or of bytes, for states and features). Each query numbers its
 * columns, in layout.h or in its own header. */
#ifndef CAROM_COLUMNS_H
#define CAROM_COLUMNS_H
#include "vec.h"

typedef G const real *const *in_columns;
typedef G void *const *out_columns;

/* A vector from three columns, the first of them x. */
FN v3 load3(in_columns in, int first, size_t i)
{
    return v3_of(v_load(in[first] + i), v_load(in[first + 1] + i), v_load(in[first + 2] + i));
}
/* Stores LANES reals to a column from element i on. */
FN void store(out_columns out, int column, size_t i, vf x)
{
    v_store((G real *)out[column] + i, x);
}
/* Stores LANES bytes to a column. */
FN void store_u8(out_columns out, int column, size_t i, vi x)
{
    v_store_u8((G u8 *)out[column] + i, x);
}
/* Stores a vector to three columns. */
FN void store3(out_columns out, int first, size_t i, v3 x)
{
    store(out, first, i, x.x);
    store(out, first + 1, i, x.y);
    store(out, first + 2, i, x.z);
}
#endif
