/* SPDX-License-Identifier: MIT */
#include "moving_mesh.h"

#include "host/bvh/mesh_data.h"

#include <math.h>

static const size_t strides[LAYOUTS] = {12, 4, 40, 13};

static carom_context *open_discrete(carom_backend backend, uint32_t lanes)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    (void)test_need_device();
    cl_relieve();
    desc.device_lanes = lanes;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

moving start_as(scene s, carom_backend backend, uint32_t lanes)
{
    moving m = {.context = open_discrete(backend, lanes), .s = s, .bytes = 44 * s.vertex_count + 64};
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = m.bytes, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    m.cpu = test_cpu(CAROM_ISA_AUTO, 2);
    m.mesh = scene_mesh(m.context, &s);
    m.expected = scene_mesh_of_devices(m.cpu, &s);
    test_ok("buffer", carom_buffer_create(m.context, &desc, &m.buffer, &err), &err);
    return m;
}

moving start(scene s)
{
    return start_as(s, CAROM_BACKEND_OPENCL, 1);
}

void end(moving *m)
{
    carom_buffer_destroy(m->buffer);
    carom_mesh_destroy(m->mesh);
    carom_mesh_destroy(m->expected);
    carom_context_destroy(m->context);
    carom_context_destroy(m->cpu);
    scene_free(&m->s);
    cl_relieve();
}

void finish(moving *m)
{
    end(m);
    cl_expect_none("refit");
}

carom_points send(const moving *m, layout how)
{
    const size_t stride = strides[how], apart = how == IN_COLUMNS ? 4 * m->s.vertex_count : 4;
    const size_t from = how == UNALIGNED ? 3 : how == WITH_GAPS ? 8 : 0;
    unsigned char *bytes = test_alloc(m->bytes, 1);
    carom_error err = {0};
    for (size_t i = 0; i < m->s.vertex_count; i++)
        for (size_t k = 0; k < 3; k++)
            memcpy(bytes + from + i * stride + k * apart, &m->s.vertices[3 * i + k], sizeof(float));
    test_ok("write", carom_buffer_write(m->buffer, 0, bytes, m->bytes, &err), &err);
    free(bytes);
    char *base = (char *)carom_buffer_address(m->buffer) + from;
    return (carom_points){(const float *)(void *)base, (const float *)(void *)(base + apart),
                          (const float *)(void *)(base + 2 * apart), stride};
}

void move_expected(const moving *m, carom_mesh_follow how)
{
    const carom_points vertices = scene_desc(&m->s).vertices;
    carom_error err = {0};
    test_ok("the CPU's update", carom_mesh_update(m->expected, &vertices, how, &err), &err);
}

size_t move_both(const moving *m, layout where, carom_mesh_follow how)
{
    const carom_points vertices = send(m, where);
    carom_error err = {0};
    move_expected(m, how);
    cl_fetched = cl_sent = 0;
    test_ok("update", carom_mesh_update(m->mesh, &vertices, how, &err), &err);
    return cl_fetched + cl_sent;
}

void expect_same_info(const moving *m)
{
    carom_mesh_info a = {.size = sizeof a}, b = {.size = sizeof b};
    carom_error err = {0};
    test_ok("info", carom_mesh_get_info(m->mesh, &a, &err), &err);
    test_ok("info", carom_mesh_get_info(m->expected, &b, &err), &err);
    a.bytes = b.bytes;
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&m->mesh->view.frame, &m->expected->view.frame, sizeof m->mesh->view.frame);
}

void expect_same_bytes(const moving *m, const char *what)
{
    const size_t nodes = caromi_bytes_of_nodes(m->expected), leaves = caromi_bytes_of_leaves(m->expected);
    char *got = test_alloc(nodes + leaves, 1);
    if (m->mesh->is_stale) {
        if (!cl_peek(leaves, got) || memcmp(got, m->expected->leaves, leaves) != 0)
            fail_msg("%s: the leaves on the device differ from the CPU's", what);
        if (nodes > 0 && (!cl_peek(nodes, got) || memcmp(got, m->expected->nodes, nodes) != 0))
            fail_msg("%s: the nodes on the device differ from the CPU's", what);
    }
    free(got);
    expect_same_info(m);
    if (memcmp(m->mesh->leaves, m->expected->leaves, leaves) != 0)
        fail_msg("%s: the leaves on the host differ from the CPU's", what);
    if (nodes > 0 && memcmp(m->mesh->nodes, m->expected->nodes, nodes) != 0)
        fail_msg("%s: the nodes on the host differ from the CPU's", what);
}

void expect_same_hits(const moving *m, const swept_spheres *b, carom_accuracy accuracy, const char *what)
{
    hits before = sweep_as(m->expected, b, accuracy), after = sweep_as(m->mesh, b, accuracy);
    hits_compare(b, &before, &after, b->count, -1, what);
    hits_free(&before);
    hits_free(&after);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static float any_number(ref_gen *g)
{
    const uint32_t bits = (uint32_t)ref_gen_bits(g);
    float x;
    memcpy(&x, &bits, sizeof x);
    return isfinite(x) ? x : 0.5f;
}

void move_scene(scene *s, const scene *from, uint64_t seed, int kind)
{
    ref_gen g;
    ref_gen_seed(&g, 71, SEED, seed);
    for (size_t i = 0; i < 3 * s->vertex_count; i++) {
        const float was = from->vertices[i];
        const uint64_t r = ref_gen_bits(&g);
        const float shift = (float)(int)(r >> 40 & 0xffff) * 0x1p-16f;
        s->vertices[i] = kind == 0   ? was + 0.01f * shift
                         : kind == 1 ? was * 3.0f + shift
                         : kind == 2 ? (i % 3 == 1 ? -0.0f : was)
                         : kind == 3 ? any_number(&g)
                         : kind == 4 ? was * 0x1p126f
                         : kind == 5 ? was * 0x1p-140f
                         : kind == 6 ? (r % 2 ? -0.0f : 0.0f)
                         : kind == 7 ? (r % 8    ? was
                                        : r % 16 ? -0.0f
                                                 : 0.0f)
                                     : -was;
    }
    if (kind == 8)
        s->vertices[3 * (seed % s->vertex_count)] = -3000.0f;
}
