# SPDX-License-Identifier: MIT
# Flags that every target shares. The first line is what the bits depend on.
add_library(carom_flags INTERFACE)
target_compile_features(carom_flags INTERFACE c_std_17)
target_compile_definitions(carom_flags INTERFACE _GNU_SOURCE)
target_compile_options(carom_flags INTERFACE
  -ffp-contract=off -fno-math-errno -fno-trapping-math
  -Wall -Wextra -Wshadow -Wdouble-promotion -Werror=double-promotion -Wstrict-prototypes -Wmissing-prototypes)
if(CAROM_SANITIZE)
  target_compile_options(carom_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(carom_flags INTERFACE -fsanitize=address,undefined)
endif()
