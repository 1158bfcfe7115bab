/* SPDX-License-Identifier: MIT */
/* Every other format, by assimp, in a process of its own: a file that crashes the importer must not end the command
 * without a sentence. The child sends the finished arrays through a socket (child.c). */
#include "cli/base/base.h"
#include "reader.h"

#ifdef CAROM_HAVE_ASSIMP

#include "assimp_file.h"
#include "child.h"
#include "cli/base/memory.h"
#include "place.h"

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/version.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 1000 };

typedef struct conversion {
    const struct aiScene *scene;
    mesh_data *out;
    mesh_placed placed;
    uint64_t odd;
    uint64_t vertices, triangles, parts; /* to come */
} conversion;

static mesh_matrix matrix_of(const struct aiMatrix4x4 *n)
{
    return (mesh_matrix){{{(double)n->a1, (double)n->a2, (double)n->a3, (double)n->a4},
                          {(double)n->b1, (double)n->b2, (double)n->b3, (double)n->b4},
                          {(double)n->c1, (double)n->c2, (double)n->c3, (double)n->c4}}};
}

static int add_face(conversion *c, const struct aiFace *face, const struct aiMesh *mesh, uint32_t first)
{
    const size_t n = face->mNumIndices;
    uint32_t few[4], *corners = n <= sizeof few / sizeof few[0] ? few : cli_alloc(n, sizeof *corners);
    int status = EXIT_DONE;
    if (!corners)
        return cli_no_memory();
    size_t good = 0;
    for (size_t i = 0; i < n; i++) {
        good += face->mIndices[i] < mesh->mNumVertices;
        corners[i] = first + face->mIndices[i];
    }
    if (n > 0 && good == n)
        status = mesh_add_polygon(c->out, corners, n);
    else
        c->odd++;
    if (corners != few)
        free(corners);
    return status;
}

static int add_mesh(conversion *c, const struct aiMesh *mesh, const mesh_matrix *a, const char *name)
{
    int identity = mesh_matrix_is_identity(a), status = mesh_add_part(c->out, name, strlen(name));
    const uint32_t first = (uint32_t)c->out->vertex_count;
    const uint64_t first_triangle = c->out->triangle_count;
    unsigned vertices = mesh->mVertices ? mesh->mNumVertices : 0, faces = mesh->mFaces ? mesh->mNumFaces : 0;
    mesh_placed_count(&c->placed, a, mesh->mNumBones > 0);
    for (unsigned i = 0; i < vertices && status == EXIT_DONE; i++) {
        const struct aiVector3D *v = &mesh->mVertices[i];
        const double place[3] = {(double)v->x, (double)v->y, (double)v->z};
        float xyz[3];
        mesh_matrix_apply(a, identity, place, xyz);
        status = mesh_add_vertex(c->out, xyz);
    }
    for (unsigned i = 0; i < faces && status == EXIT_DONE && vertices > 0; i++)
        status = add_face(c, &mesh->mFaces[i], mesh, first);
    mesh_placed_turn(a, c->out, first_triangle);
    return status;
}

static int add_node(conversion *c, const struct aiNode *node, const mesh_matrix *parent, int depth)
{
    const mesh_matrix own = matrix_of(&node->mTransformation), here = mesh_matrix_multiply(parent, &own);
    int status = EXIT_DONE;
    if (depth > DEPTH_MAX)
        return cli_refuse(EXIT_USAGE, "the mesh's nodes are nested more than %d deep", DEPTH_MAX);
    for (unsigned i = 0; i < node->mNumMeshes && status == EXIT_DONE; i++) {
        if (node->mMeshes[i] >= c->scene->mNumMeshes)
            continue;
        const struct aiMesh *mesh = c->scene->mMeshes[node->mMeshes[i]];
        status = add_mesh(c, mesh, &here, node->mName.length > 0 ? node->mName.data : mesh->mName.data);
    }
    for (unsigned i = 0; i < node->mNumChildren && status == EXIT_DONE; i++)
        status = add_node(c, node->mChildren[i], &here, depth + 1);
    return status;
}

/* Counts what add_node will add, because nodes may instance a mesh any number of times. */
static void count_node(conversion *c, const struct aiNode *node, int depth)
{
    for (unsigned i = 0; i < node->mNumMeshes; i++) {
        if (node->mMeshes[i] >= c->scene->mNumMeshes)
            continue;
        const struct aiMesh *mesh = c->scene->mMeshes[node->mMeshes[i]];
        c->parts++;
        c->vertices += mesh->mNumVertices;
        for (unsigned k = 0; k < mesh->mNumFaces; k++)
            c->triangles += mesh->mFaces[k].mNumIndices > 2 ? mesh->mFaces[k].mNumIndices - 2 : 0;
    }
    for (unsigned i = 0; i < node->mNumChildren && depth <= DEPTH_MAX; i++)
        count_node(c, node->mChildren[i], depth + 1);
}

static void note_changes(conversion *c)
{
    mesh_placed_note(&c->placed, c->out);
    if (c->odd)
        mesh_note(c->out, "%llu faces with vertices that are not there were dropped", (unsigned long long)c->odd);
    mesh_note(c->out, "the importer may reorder vertices; binary coordinates keep their bits, "
                      "decimal text may end up to 2 ulp from the nearest float");
}

/* C++'s allocation fails in many places of assimp, of which some crash and some name another reason. */
static void end_without_memory(void)
{
    _exit(MESH_CHILD_MEMORY);
}

static void catch_failed_allocation(void)
{
    typedef void (*handler)(void);
    handler (*set_handler)(handler) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE"); /* std::set_new_handler */
    memcpy(&set_handler, &found, sizeof found);
    if (found)
        set_handler(end_without_memory);
}

static int import_scene(const char *path, mesh_data *out)
{
    catch_failed_allocation();
    struct aiFileIO files = mesh_assimp_files();
    errno = 0;
    const struct aiScene *scene = aiImportFileEx(path, 0, &files);
    if (!scene && errno == ENOMEM) /* C's allocation, in a library that assimp uses */
        return MESH_CHILD_MEMORY;
    if (!scene || !scene->mRootNode)
        return cli_refuse(EXIT_USAGE, "%s: cannot be imported: %s", path,
                          scene ? "it has no nodes" : aiGetErrorString());
    conversion c = {.scene = scene, .out = out};
    snprintf(out->reader, sizeof out->reader, "imported by assimp %u.%u.%u", aiGetVersionMajor(), aiGetVersionMinor(),
             aiGetVersionPatch());
    count_node(&c, scene->mRootNode, 0);
    if (!mesh_reserve(out, c.vertices, c.triangles, c.parts))
        return MESH_CHILD_MEMORY;
    int status = add_node(&c, scene->mRootNode, &mesh_matrix_identity, 0);
    if (status == EXIT_DONE)
        note_changes(&c);
    return status; /* the scene dies with the process */
}

int mesh_read_assimp(const char *path, mesh_data *out)
{
    return mesh_child_run(path, import_scene, out);
}

#else

int mesh_read_assimp(const char *path, mesh_data *out)
{
    (void)out;
    return cli_refuse(EXIT_USAGE, "%s: this build cannot read its format (it has no assimp)", path);
}

#endif
