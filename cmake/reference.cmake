# SPDX-License-Identifier: MIT
# The exact reference: for tests, the benchmark and `carom verify`; never part of the library.
add_library(carom_reference STATIC
  reference/dyadic.c reference/root.c reference/space.c reference/sweep.c reference/overlap.c reference/spheres.c
  reference/judge.c reference/judge_mesh.c reference/mesh.c
  reference/closest.c reference/mesh_closest.c
  reference/families.c reference/families_shapes.c reference/families_spheres.c reference/families_edge.c
  reference/families_doubt.c reference/families_edge_spheres.c)
target_link_libraries(carom_reference PRIVATE carom_flags m)
target_include_directories(carom_reference PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
