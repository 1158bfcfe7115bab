/* SPDX-License-Identifier: MIT */
/* glTF 2.0, as JSON or as a GLB: the shapes of one scene. What would change a shape and is not read is refused by
 * name or noted; nothing is taken from a size that the file only claims. */
#include "cli/base/base.h"
#include "reader.h"

#ifdef CAROM_HAVE_JANSSON

#include "gltf.h"
#include "cli/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000 };

typedef struct scene {
    gltf g;
    const json_t *nodes, *meshes;
    const char *text; /* the JSON */
    size_t text_size;
    uint64_t behind; /* the GLB: bytes */
    uint64_t number; /* of the scene */
    size_t scene_count;
    unsigned char *is_child; /* by node */
    gltf_mesh *shapes;       /* by mesh; checked when a node shows it */
    gltf_instance *instances;
    size_t instance_count;
} scene;

/* ---- the container ----------------------------------------------------------------------------------------------- */

static uint32_t word_at(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static int is_glb(const mesh_file *file)
{
    return file->size >= 4 && !memcmp(file->data, "glTF", 4);
}

/* Header of 12 bytes, then chunks: length, type, bytes (section 4.4). Chunks of other types are passed over. */
static int open_glb(scene *s, const mesh_file *file)
{
    const uint32_t json = 0x4e4f534a, bin = 0x004e4942;
    if (file->size < 12)
        return cli_refuse(EXIT_USAGE, "%s: ends inside the GLB header", file->path);
    const uint32_t version = word_at(file->data + 4), size = word_at(file->data + 8);
    if (version != 2)
        return cli_refuse(EXIT_USAGE, "%s: GLB of version %u; glTF 2.0 alone is read", file->path, version);
    if (size > file->size || size < 12)
        return cli_refuse(EXIT_USAGE, "%s: the GLB header says %u bytes, the file has %zu", file->path, size,
                          file->size);
    s->behind = file->size - size;
    for (uint64_t at = 12, end; at < size; at = end) {
        const char *data = file->data + at + 8;
        const uint64_t length = size - at < 8 ? 0 : word_at(file->data + at);
        const uint32_t type = size - at < 8 ? 0 : word_at(file->data + at + 4);
        end = at + 8 + length;
        if (end > size)
            return cli_refuse(EXIT_USAGE, "%s: the chunk at byte %llu ends behind the GLB's %u bytes", file->path,
                              (unsigned long long)at, size);
        if (at == 12 && type != json)
            return cli_refuse(EXIT_USAGE, "%s: the first chunk is not JSON", file->path);
        if (at == 12) {
            s->text = data;
            s->text_size = (size_t)length;
        } else if (type == bin && !s->g.chunk) {
            s->g.chunk = (const unsigned char *)data;
            s->g.chunk_size = length;
        }
    }
    return s->text ? EXIT_DONE : cli_refuse(EXIT_USAGE, "%s: the GLB has no chunk", file->path);
}

/* Each value of JSON takes some 100 bytes; a text of brackets alone is mostly values. */
static int check_json_memory(scene *s)
{
    uint64_t values = 0;
    for (size_t i = 0; i < s->text_size; i++)
        values += s->text[i] == ',' || s->text[i] == '[' || s->text[i] == '{';
    int status = gltf_take_memory(&s->g, s->text_size + 128 * values);
    s->g.memory = 0; /* freed, mostly, before the mesh is as large */
    return status;
}

static int read_json(scene *s, const mesh_file *file)
{
    json_error_t error;
    int status = EXIT_DONE;
    if (is_glb(file)) {
        status = open_glb(s, file);
    } else {
        s->text = file->data;
        s->text_size = file->size;
    }
    if (status != EXIT_DONE)
        return status;
    if (s->text_size >= 3 && !memcmp(s->text, "\xef\xbb\xbf", 3)) {
        s->text += 3;
        s->text_size -= 3;
    }
    while (s->text_size > 0 && s->text[s->text_size - 1] == '\0') /* some writers pad chunks so */
        s->text_size--;
    status = check_json_memory(s);
    if (status != EXIT_DONE)
        return status;
    s->g.root = json_loadb(s->text, s->text_size, JSON_REJECT_DUPLICATES, &error);
    if (!s->g.root)
        return cli_refuse(EXIT_USAGE, "%s: JSON, line %d, column %d: %s", file->path, error.line, error.column,
                          error.text);
    return json_is_object(s->g.root) ? EXIT_DONE
                                     : cli_refuse(EXIT_USAGE, "%s: not glTF: its JSON is not an object", file->path);
}

/* ---- versions and extensions ------------------------------------------------------------------------------------- */

static int check_version(const scene *s)
{
    const json_t *asset = json_object_get(s->g.root, "asset");
    const char *version = json_string_value(json_object_get(asset, "version"));
    const json_t *least = json_object_get(asset, "minVersion");
    if (!version || strncmp(version, "2.", 2) != 0)
        return cli_refuse(EXIT_USAGE, "%s: asset.version is %s%s%s; glTF 2.0 alone is read", s->g.path,
                          version ? "'" : "", version ? version : "missing", version ? "'" : "");
    if (least && (!json_is_string(least) || strcmp(json_string_value(least), "2.0") != 0))
        return cli_refuse(EXIT_USAGE, "%s: asset.minVersion is not 2.0: it needs a later reader", s->g.path);
    return EXIT_DONE;
}

/* Appearance, metadata, and what the reader knows. A name that ends in _ stands for all that begin so. */
static int is_harmless(const char *name)
{
    static const char *const harmless[] = {"KHR_materials_",
                                           "KHR_texture_",
                                           "KHR_lights_",
                                           "KHR_xmp",
                                           "KHR_xmp_json_ld",
                                           "EXT_texture_",
                                           "EXT_lights_",
                                           "EXT_materials_",
                                           "MSFT_texture_",
                                           "MSFT_packing_",
                                           "ADOBE_materials_",
                                           "KHR_techniques_",
                                           "KHR_technique_",
                                           "KHR_animation_pointer",
                                           "KHR_environment_map",
                                           "KHR_mesh_quantization",
                                           "KHR_draco_mesh_compression"};
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        size_t n = strlen(harmless[i]);
        if (!strncmp(name, harmless[i], n) && (harmless[i][n - 1] == '_' || name[n] == '\0'))
            return 1;
    }
    return 0;
}

static int check_extensions(const scene *s)
{
    static const char *const lists[] = {"extensionsRequired", "extensionsUsed"};
    for (size_t k = 0; k < 2; k++) {
        const json_t *list = json_object_get(s->g.root, lists[k]);
        if (list && !json_is_array(list))
            return cli_refuse(EXIT_USAGE, "%s: %s is not an array", s->g.path, lists[k]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *name = json_string_value(json_array_get(list, i));
            if (!name)
                return cli_refuse(EXIT_USAGE, "%s: %s holds a name that is no string", s->g.path, lists[k]);
            if (k == 0 && !is_harmless(name))
                return cli_refuse(EXIT_USAGE, "%s: it requires the extension %s, which is not read", s->g.path, name);
        }
    }
    return EXIT_DONE;
}

static void note_extensions(const scene *s, mesh_data *out)
{
    const json_t *used = json_object_get(s->g.root, "extensionsUsed");
    char names[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (is_harmless(name))
            continue;
        int n = snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", name);
        if (n < 0 || length + (size_t)n >= sizeof names) {
            snprintf(names + length, sizeof names - length, "%s", length ? ", ..." : "...");
            break;
        }
        length += (size_t)n;
    }
    for (char *c = names; *c; c++)
        *c = (unsigned char)*c < 32 || *c == 127 ? '?' : *c;
    if (names[0])
        mesh_note(out, "extensions that are not read: %s", names);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* `count` numbers into out. Returns 0 in *given where there are none. */
static int read_numbers(const gltf *g, const gltf_thing *node, const char *name, double *out, size_t count, int *given)
{
    const json_t *list;
    int status = gltf_list(g, node, name, &list);
    *given = list != NULL;
    if (status == EXIT_DONE && list && json_array_size(list) != count)
        status = gltf_refuse(g, node, "%s has %zu numbers, not %zu", name, json_array_size(list), count);
    for (size_t i = 0; i < count && list && status == EXIT_DONE; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_number(number))
            status = gltf_refuse(g, node, "%s holds what is no number", name);
        else
            out[i] = json_number_value(number);
    }
    return status;
}

/* Division by the squared length makes a rotation of a quaternion that was rounded, to a float or to some decimals. */
static void compose(const double t[3], const double q[4], const double scale[3], mesh_matrix *out)
{
    const double x = q[0], y = q[1], z = q[2], w = q[3], n = 2.0 / (x * x + y * y + z * z + w * w);
    const double r[3][3] = {{1.0 - n * (y * y + z * z), n * (x * y - z * w), n * (x * z + y * w)},
                            {n * (x * y + z * w), 1.0 - n * (x * x + z * z), n * (y * z - x * w)},
                            {n * (x * z - y * w), n * (y * z + x * w), 1.0 - n * (x * x + y * y)}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            out->m[i][k] = r[i][k] * scale[k];
        out->m[i][3] = t[i];
    }
}

static int read_transform(const gltf *g, const gltf_thing *node, mesh_matrix *out)
{
    double m[16], t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
    int has_matrix, has_t, has_q, has_scale;
    int status = read_numbers(g, node, "matrix", m, 16, &has_matrix);
    if (status == EXIT_DONE)
        status = read_numbers(g, node, "translation", t, 3, &has_t);
    if (status == EXIT_DONE)
        status = read_numbers(g, node, "rotation", q, 4, &has_q);
    if (status == EXIT_DONE)
        status = read_numbers(g, node, "scale", scale, 3, &has_scale);
    if (status != EXIT_DONE)
        return status;
    if (has_matrix && (has_t || has_q || has_scale))
        return gltf_refuse(g, node, "it has a matrix and a translation, rotation or scale");
    if (!(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 0.01))
        return gltf_refuse(g, node, "rotation is not a unit quaternion");
    if (!has_matrix) {
        compose(t, q, scale, out);
        return EXIT_DONE;
    }
    if (fabs(m[3]) > 0.0 || fabs(m[7]) > 0.0 || fabs(m[11]) > 0.0 || !(fabs(m[15] - 1.0) < 1e-6))
        return gltf_refuse(g, node, "matrix is not affine: its last row is not 0 0 0 1");
    for (int i = 0; i < 12; i++)
        out->m[i % 3][i / 3] = m[i / 3 * 4 + i % 3];
    return EXIT_DONE;
}

/* A node has one parent at most (section 3.5.2): else a few of them would stand for any number of parts, or for
 * ever. */
static int mark_children(scene *s)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < json_array_size(s->nodes) && status == EXIT_DONE; i++) {
        const gltf_thing node = {"node", i, json_array_get(s->nodes, i)};
        const json_t *children;
        status = gltf_list(&s->g, &node, "children", &children);
        for (size_t k = 0; k < json_array_size(children) && status == EXIT_DONE; k++) {
            gltf_thing child;
            status = gltf_follow_value(&s->g, &node, "children", json_array_get(children, k), s->nodes, "node", &child);
            if (status == EXIT_DONE && s->is_child[child.number]++)
                status = gltf_refuse(&s->g, &child, "it is a child twice");
        }
    }
    return status;
}

static int add_instance(scene *s, const gltf_thing *node, const mesh_matrix *matrix)
{
    gltf_thing mesh;
    int status = gltf_follow(&s->g, node, "mesh", s->meshes, "mesh", &mesh);
    if (status != EXIT_DONE || !mesh.json)
        return status;
    if (gltf_has_extension(node->json, "EXT_mesh_gpu_instancing"))
        return gltf_refuse(&s->g, node, "it repeats its mesh by EXT_mesh_gpu_instancing, which is not read");
    gltf_mesh *shape = &s->shapes[mesh.number];
    shape->thing = mesh;
    status = gltf_mesh_check(&s->g, shape);
    /* Joints place a skinned mesh, its node does not (section 3.7.3.3). */
    const int skinned = json_object_get(node->json, "skin") != NULL;
    s->instances[s->instance_count++] =
        (gltf_instance){shape, *node, skinned ? mesh_matrix_identity : *matrix, skinned};
    return status;
}

static int add_node(scene *s, const gltf_thing *node, const mesh_matrix *parent, int depth)
{
    mesh_matrix own, here;
    int status = read_transform(&s->g, node, &own);
    if (depth > DEPTH_MAX)
        return gltf_refuse(&s->g, node, "it is nested more than %d deep", DEPTH_MAX);
    if (status == EXIT_DONE) {
        here = mesh_matrix_multiply(parent, &own);
        status = add_instance(s, node, &here);
    }
    const json_t *children = json_object_get(node->json, "children");
    for (size_t i = 0; i < json_array_size(children) && status == EXIT_DONE; i++) {
        gltf_thing child;
        status = gltf_follow_value(&s->g, node, "children", json_array_get(children, i), s->nodes, "node", &child);
        if (status == EXIT_DONE)
            status = add_node(s, &child, &here, depth + 1);
    }
    return status;
}

static int add_scene(scene *s)
{
    const json_t *scenes = json_object_get(s->g.root, "scenes"), *roots;
    const gltf_thing root = {"document", 0, s->g.root};
    gltf_thing thing;
    if (json_array_size(scenes) == 0)
        return cli_refuse(EXIT_USAGE, "%s: it has no scene", s->g.path);
    int status = gltf_follow(&s->g, &root, "scene", scenes, "scene", &thing);
    if (status == EXIT_DONE && !thing.json) /* none is the default */
        thing = (gltf_thing){"scene", 0, json_array_get(scenes, 0)};
    s->number = thing.number;
    s->scene_count = json_array_size(scenes);
    if (status == EXIT_DONE)
        status = gltf_list(&s->g, &thing, "nodes", &roots);
    for (size_t i = 0; status == EXIT_DONE && i < json_array_size(roots); i++) {
        gltf_thing node;
        status = gltf_follow_value(&s->g, &thing, "nodes", json_array_get(roots, i), s->nodes, "node", &node);
        if (status == EXIT_DONE && s->is_child[node.number]++)
            status = gltf_refuse(&s->g, &node, "it is a root of scene %llu, and that twice or a child as well",
                                 (unsigned long long)thing.number);
        if (status == EXIT_DONE)
            status = add_node(s, &node, &mesh_matrix_identity, 0);
    }
    return status;
}

/* ---- the mesh ---------------------------------------------------------------------------------------------------- */

/* All of it at once, for its size is known. */
static int make_room(scene *s, gltf_build *b)
{
    uint64_t triangles = 0, vertices = 0, parts = 0, reach = 0;
    size_t targets = 0;
    for (size_t i = 0; i < s->instance_count; i++) {
        const gltf_mesh *mesh = s->instances[i].mesh;
        triangles += mesh->triangles;
        vertices += mesh->vertices;
        parts += mesh->count;
        reach = mesh->reach > reach ? mesh->reach : reach;
        targets = mesh->target_count > targets ? mesh->target_count : targets;
        if (triangles > INT32_MAX || vertices > UINT32_MAX)
            return cli_refuse(EXIT_USAGE, "%s: its nodes show more than 2^31 - 1 triangles or 2^32 - 1 vertices",
                              s->g.path);
    }
    int status = gltf_take_memory(&s->g, 12 * (triangles + vertices) + sizeof(mesh_part) * parts + 4 * reach);
    if (status != EXIT_DONE)
        return status;
    b->slots = calloc((size_t)reach + 1, sizeof *b->slots);
    b->weights = cli_alloc(targets, sizeof *b->weights);
    if (!mesh_reserve(b->out, vertices, triangles, parts) || !b->slots || !b->weights)
        return cli_no_memory();
    return EXIT_DONE;
}

static void note_changes(const scene *s, const gltf_build *b)
{
    mesh_data *out = b->out;
    mesh_placed_note(&b->placed, out);
    if (b->morphed)
        mesh_note(out, "%llu parts are morphed by their weights", (unsigned long long)b->morphed);
    if (b->integers)
        mesh_note(out, "%llu parts have positions in integers: they became floats", (unsigned long long)b->integers);
    if (b->without)
        mesh_note(out, "%llu primitives without positions were dropped", (unsigned long long)b->without);
    if (b->left_over)
        mesh_note(out, "%llu corners that make no triangle were dropped", (unsigned long long)b->left_over);
    if (s->scene_count > 1)
        mesh_note(out, "scene %llu of %zu was read, counted from 0", (unsigned long long)s->number, s->scene_count);
    if (s->g.copies)
        mesh_note(out, "uncompressed copies of compressed parts were read");
    if (s->behind)
        mesh_note(out, "%llu bytes behind the GLB were not read", (unsigned long long)s->behind);
    note_extensions(s, out);
}

static int build(scene *s, mesh_data *out)
{
    gltf_build b = {.g = &s->g, .out = out};
    int status = make_room(s, &b);
    for (size_t i = 0; i < s->instance_count && status == EXIT_DONE; i++)
        status = gltf_instance_add(&b, &s->instances[i]);
    if (status == EXIT_DONE)
        note_changes(s, &b);
    snprintf(out->reader, sizeof out->reader, "glTF 2.0, nodes placed in binary64 and rounded once");
    free(b.slots);
    free(b.weights);
    return status;
}

/* assimp decodes Draco. What it would not get right in the rest of the file is refused. */
static int build_by_assimp(scene *s, mesh_data *out)
{
    int status = EXIT_DONE;
#ifndef CAROM_HAVE_ASSIMP
    status = cli_refuse(EXIT_USAGE, "%s: KHR_draco_mesh_compression, which this build does not read (it has no assimp)",
                        s->g.path);
#endif
    for (size_t i = 0; i < s->instance_count && status == EXIT_DONE; i++)
        for (size_t k = 0; k < s->instances[i].mesh->count && status == EXIT_DONE; k++) {
            const gltf_mesh *mesh = s->instances[i].mesh;
            const gltf_values *positions = mesh->primitives[k].positions;
            if (mesh->target_count > 0 || (positions && positions->component != GLTF_FLOAT))
                status = gltf_refuse(&s->g, &mesh->thing,
                                     "integer positions or morph targets beside KHR_draco_mesh_compression");
        }
    for (size_t i = 0; i < json_array_size(s->g.buffers) && status == EXIT_DONE; i++) {
        const gltf_buffer *buffer; /* assimp opens all of them, and whatever they name */
        status = gltf_buffer_open(&s->g, i, &buffer);
    }
    return status == EXIT_DONE ? mesh_read_assimp(s->g.path, out) : status;
}

static int read_scene(scene *s, mesh_data *out)
{
    int status = check_version(s);
    if (status == EXIT_DONE)
        status = check_extensions(s);
    if (status != EXIT_DONE)
        return status;
    s->g.accessors = json_object_get(s->g.root, "accessors");
    s->g.views = json_object_get(s->g.root, "bufferViews");
    s->g.buffers = json_object_get(s->g.root, "buffers");
    s->nodes = json_object_get(s->g.root, "nodes");
    s->meshes = json_object_get(s->g.root, "meshes");
    s->g.checked = calloc(json_array_size(s->g.accessors) + 1, sizeof *s->g.checked);
    s->g.loaded = calloc(json_array_size(s->g.buffers) + 1, sizeof *s->g.loaded);
    s->is_child = calloc(json_array_size(s->nodes) + 1, 1);
    s->shapes = calloc(json_array_size(s->meshes) + 1, sizeof *s->shapes);
    s->instances = calloc(json_array_size(s->nodes) + 1, sizeof *s->instances);
    if (!s->g.checked || !s->g.loaded || !s->is_child || !s->shapes || !s->instances)
        return cli_no_memory();
    status = mark_children(s);
    if (status == EXIT_DONE)
        status = add_scene(s);
    if (status == EXIT_DONE)
        status = s->g.draco ? build_by_assimp(s, out) : build(s, out);
    return status;
}

int mesh_read_gltf(const mesh_file *file, mesh_data *out)
{
    scene s = {.g = {.path = file->path, .memory_max = memory_limit()}};
    int status = read_json(&s, file);
    if (status == EXIT_DONE)
        status = read_scene(&s, out);
    for (size_t i = 0; s.shapes && i < json_array_size(s.meshes); i++)
        gltf_mesh_free(&s.shapes[i]);
    free(s.shapes);
    free(s.instances);
    free(s.is_child);
    gltf_data_free(&s.g);
    json_decref(s.g.root);
    return status;
}

#else

int mesh_read_gltf(const mesh_file *file, mesh_data *out)
{
    (void)out;
    return cli_refuse(EXIT_USAGE, "%s: this build does not read glTF (it has no jansson)", file->path);
}

#endif
