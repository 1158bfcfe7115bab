/* SPDX-License-Identifier: MIT */
#include "vtk.h"

#include <stdarg.h>
#include <stdio.h>

enum { ALIGNMENT = 8 };
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lengths are written as they stand in memory");

const char vtk_trailer[] = "\n  </AppendedData>\n</VTKFile>\n";

void vtk_add(vtk_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(t->at + t->used, VTK_TEXT - t->used, format, args);
    va_end(args);
    t->used = length >= 0 && (size_t)length < VTK_TEXT - t->used ? t->used + (size_t)length : VTK_TEXT;
}

void vtk_begin(vtk_text *t, const char *type, const char *comment)
{
    t->used = t->offset = 0;
    vtk_add(t, "<?xml version=\"1.0\"?>\n");
    if (comment)
        vtk_add(t, "<!--\n%s-->\n", comment);
    vtk_add(t, "<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n", type);
}

uint64_t vtk_add_array(vtk_text *t, const char *type, const char *name, int count, const char *const *components,
                       uint64_t bytes)
{
    const uint64_t at = t->offset + VTK_LENGTH;
    vtk_add(t, "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" ", type, name, count);
    for (int i = 0; components && i < count; i++)
        vtk_add(t, "ComponentName%d=\"%s\" ", i, components[i]);
    vtk_add(t, "format=\"appended\" offset=\"%llu\"/>\n", (unsigned long long)t->offset);
    t->offset = at + bytes;
    return at;
}

void vtk_end(vtk_text *t, const char *type)
{
    vtk_add(t, "  </%s>\n  <AppendedData encoding=\"raw\">\n%*s", type, VTK_BLANKS, "");
    while (t->used < VTK_TEXT && (t->used + 1) % ALIGNMENT != 0)
        vtk_add(t, " ");
    vtk_add(t, "_");
}
