/* SPDX-License-Identifier: MIT */
/* Every other format, by assimp, in a process of its own: a file that crashes the importer must not end the command
 * without a sentence. The child sends the finished arrays through a pipe. */
#include "mesh_reader.h"
#include "cli.h"

#ifdef CAROM_HAVE_ASSIMP

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/version.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH_MAX = 1000 };

typedef struct matrix {
    double m[3][4]; /* affine part, row major */
} matrix;

typedef struct walk {
    const struct aiScene *scene;
    mesh_data *out;
    uint64_t moved, mirrored, odd, skinned;
} walk;

/* ---- in the child: scene to triangles ------------------------------------------------------------------------ */

static matrix multiply(const matrix *a, const struct aiMatrix4x4 *n)
{
    const double b[4][4] = {{(double)n->a1, (double)n->a2, (double)n->a3, (double)n->a4},
                            {(double)n->b1, (double)n->b2, (double)n->b3, (double)n->b4},
                            {(double)n->c1, (double)n->c2, (double)n->c3, (double)n->c4},
                            {0, 0, 0, 1}};
    matrix result;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            result.m[r][c] = a->m[r][0] * b[0][c] + a->m[r][1] * b[1][c] + a->m[r][2] * b[2][c] + a->m[r][3] * b[3][c];
    return result;
}

static int is_identity(const matrix *a)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if (fabs(a->m[r][c] - (r == c ? 1.0 : 0.0)) > 0.0)
                return 0;
    return 1;
}

static double determinant(const matrix *a)
{
    const double(*m)[4] = a->m;
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* An identity leaves the bits alone; otherwise one product in binary64, rounded once. */
static void place(const matrix *a, int identity, const struct aiVector3D *v, float xyz[3])
{
    const double p[3] = {(double)v->x, (double)v->y, (double)v->z};
    if (identity) {
        xyz[0] = v->x;
        xyz[1] = v->y;
        xyz[2] = v->z;
        return;
    }
    for (int r = 0; r < 3; r++)
        xyz[r] = (float)(a->m[r][0] * p[0] + a->m[r][1] * p[1] + a->m[r][2] * p[2] + a->m[r][3]);
}

static int add_face(walk *w, const struct aiFace *face, const struct aiMesh *mesh, uint32_t first)
{
    const unsigned *i = face->mIndices;
    if (face->mNumIndices == 3 && i[0] < mesh->mNumVertices && i[1] < mesh->mNumVertices && i[2] < mesh->mNumVertices)
        return mesh_add_triangle(w->out, first + i[0], first + i[1], first + i[2]);
    w->out->dropped_points += face->mNumIndices == 1;
    w->out->dropped_lines += face->mNumIndices == 2;
    w->odd += face->mNumIndices == 0 || face->mNumIndices > 2;
    return EXIT_DONE;
}

static int add_mesh(walk *w, const struct aiMesh *mesh, const matrix *a, const char *name)
{
    int identity = is_identity(a), status = mesh_add_part(w->out, name, strlen(name));
    uint32_t first = (uint32_t)w->out->vertex_count;
    unsigned vertices = mesh->mVertices ? mesh->mNumVertices : 0, faces = mesh->mFaces ? mesh->mNumFaces : 0;
    w->moved += !identity;
    w->mirrored += determinant(a) < 0;
    w->skinned += mesh->mNumBones > 0;
    for (unsigned i = 0; i < vertices && status == EXIT_DONE; i++) {
        float xyz[3];
        place(a, identity, &mesh->mVertices[i], xyz);
        status = mesh_add_vertex(w->out, xyz);
    }
    for (unsigned i = 0; i < faces && status == EXIT_DONE && vertices > 0; i++)
        status = add_face(w, &mesh->mFaces[i], mesh, first);
    return status;
}

static int walk_node(walk *w, const struct aiNode *node, const matrix *parent, int depth)
{
    matrix here = multiply(parent, &node->mTransformation);
    int status = EXIT_DONE;
    if (depth > DEPTH_MAX)
        return cli_refuse(EXIT_USAGE, "the mesh's nodes are nested more than %d deep", DEPTH_MAX);
    for (unsigned i = 0; i < node->mNumMeshes && status == EXIT_DONE; i++) {
        if (node->mMeshes[i] >= w->scene->mNumMeshes)
            continue;
        const struct aiMesh *mesh = w->scene->mMeshes[node->mMeshes[i]];
        status = add_mesh(w, mesh, &here, node->mName.length > 0 ? node->mName.data : mesh->mName.data);
    }
    for (unsigned i = 0; i < node->mNumChildren && status == EXIT_DONE; i++)
        status = walk_node(w, node->mChildren[i], &here, depth + 1);
    return status;
}

static void note_changes(walk *w)
{
    if (w->moved)
        mesh_note(w->out, "%llu parts were placed by the transforms of their nodes", (unsigned long long)w->moved);
    if (w->mirrored)
        mesh_note(w->out, "%llu of them are mirrored: their triangles turn the other way",
                  (unsigned long long)w->mirrored);
    if (w->skinned)
        mesh_note(w->out, "%llu parts have bones: they stand as stored, not posed", (unsigned long long)w->skinned);
    if (w->odd)
        mesh_note(w->out, "%llu faces that the importer could not cut into triangles were dropped",
                  (unsigned long long)w->odd);
    mesh_note(w->out, "the importer may reorder vertices and cuts polygons; binary coordinates keep their bits, "
                      "decimal text may end up to 2 ulp from the nearest float");
}

static int import_scene(const char *path, mesh_data *out)
{
    static const matrix identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    const struct aiScene *scene = aiImportFile(path, aiProcess_Triangulate);
    if (!scene || !scene->mRootNode)
        return cli_refuse(EXIT_USAGE, "%s: cannot be imported: %s", path,
                          scene ? "it has no nodes" : aiGetErrorString());
    walk w = {.scene = scene, .out = out};
    snprintf(out->reader, sizeof out->reader, "imported by assimp %u.%u.%u", aiGetVersionMajor(), aiGetVersionMinor(),
             aiGetVersionPatch());
    int status = walk_node(&w, scene->mRootNode, &identity, 0);
    if (status == EXIT_DONE)
        note_changes(&w);
    return status; /* the scene dies with the process */
}

/* ---- between the two ----------------------------------------------------------------------------------------- */

static int write_all(int fd, const void *data, uint64_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t n = write(fd, at, size > 1 << 30 ? 1 << 30 : (size_t)size);
        if (n < 0 && errno != EINTR)
            return 0;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (uint64_t)n : 0;
    }
    return 1;
}

static int read_all(int fd, void *data, uint64_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t n = read(fd, at, size > 1 << 30 ? 1 << 30 : (size_t)size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (uint64_t)n : 0;
    }
    return 1;
}

/* The importer prints what it likes where results belong, so its standard output is closed off. */
_Noreturn static void child(const char *path, int fd)
{
    mesh_data mesh = {0};
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    int status = import_scene(path, &mesh);
    if (status == EXIT_DONE &&
        !(write_all(fd, &mesh, sizeof mesh) && write_all(fd, mesh.xyz, mesh.vertex_count * 3 * sizeof(float)) &&
          write_all(fd, mesh.indices, mesh.triangle_count * 3 * sizeof(uint32_t)) &&
          write_all(fd, mesh.parts, mesh.part_count * sizeof *mesh.parts)))
        status = EXIT_WORK;
    _exit(status);
}

/* Fill `out` from the pipe; 0 if the child ended early. */
static int receive(int fd, mesh_data *out, int *memory)
{
    if (!read_all(fd, out, sizeof *out)) {
        *out = (mesh_data){0};
        return 0;
    }
    out->xyz = cli_alloc(out->vertex_count, 3 * sizeof(float));
    out->indices = cli_alloc(out->triangle_count, 3 * sizeof(uint32_t));
    out->parts = cli_alloc(out->part_count, sizeof *out->parts);
    *memory = out->xyz && out->indices && out->parts;
    return *memory && read_all(fd, out->xyz, out->vertex_count * 3 * sizeof(float)) &&
           read_all(fd, out->indices, out->triangle_count * 3 * sizeof(uint32_t)) &&
           read_all(fd, out->parts, out->part_count * sizeof *out->parts);
}

int mesh_read_assimp(const char *path, mesh_data *out)
{
    int ends[2], memory = 1, ended = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cli_refuse(EXIT_WORK, "cannot start the importer: %s", strerror(errno));
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        child(path, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return cli_refuse(EXIT_WORK, "cannot start the importer: %s", strerror(errno));
    }
    int complete = receive(ends[0], out, &memory);
    close(ends[0]);
    while (waitpid(process, &ended, 0) < 0 && errno == EINTR)
        continue;
    if (!memory)
        return cli_no_memory();
    if (complete)
        return EXIT_DONE;
    if (WIFSIGNALED(ended))
        return cli_refuse(EXIT_USAGE, "%s: cannot be imported: the importer crashed on it (%s)", path,
                          strsignal(WTERMSIG(ended)));
    return WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_USAGE ? EXIT_USAGE : EXIT_WORK;
}

#else

int mesh_read_assimp(const char *path, mesh_data *out)
{
    (void)out;
    return cli_refuse(EXIT_USAGE, "%s: this build reads PLY, STL, OBJ and OFF only (it has no assimp)", path);
}

#endif
