/* SPDX-License-Identifier: MIT */
#include "rows_format.h"

#include <string.h>

const rows_type *rows_type_of(const query_field *field)
{
    static const rows_type byte = {"|u1", "UInt8"}, real = {"<f4", "Float32"}, integer = {"<i4", "Int32"},
                           positive = {"<u4", "UInt32"}, whole = {"<i8", "Int64"};
    switch (field->kind) {
    case QUERY_STATE:
    case QUERY_FEATURE:
    case QUERY_BITS: return &byte;
    case QUERY_TIME:
    case QUERY_COORDINATE:
    case QUERY_HEIGHT: return &real;
    case QUERY_TRIANGLE: return &integer;
    case QUERY_PATCH: return &positive;
    case QUERY_COUNT: /* below 2^63; what is not there, QUERY_NO_COUNT, becomes -1 */
    case QUERY_NUMBER: return &whole;
    }
    return &byte;
}

unsigned char *rows_put_number(unsigned char *to, const query_field *field, const rows_field *fields,
                               const rows_field *from, uint64_t i)
{
    const uint32_t nan = 0x7fc00000; /* of one pattern on every machine */
    const size_t size = query_field_size(field);
    if (rows_is_missing(field, fields, from, i))
        memcpy(to, &nan, sizeof nan);
    else
        memcpy(to, from->bytes + i * size, size);
    return to + size;
}
