/* SPDX-License-Identifier: MIT */
/* Stands in for LAMMPS's <fmt/format.h>, which Debian's liblammps-dev leaves out although its headers include it.
 * LAMMPS declares templates with these names; contrib/lammps passes finished strings and so never instantiates one. On
 * the include path only where the installed headers have no fmt (cmake/lammps.cmake). */
#ifndef CAROM_LAMMPS_FMT_FORMAT_H
#define CAROM_LAMMPS_FMT_FORMAT_H

#include <string>

namespace fmt
{
struct string_view {
    template <class S> string_view(const S &)
    {
    }
};
struct format_args {
};
template <class... A, class S> format_args make_args_checked(const S &, A &&...)
{
    return {};
}
} // namespace fmt

#endif
