/* SPDX-License-Identifier: MIT */
/* glTF: a document of all that the reader knows, in which bytes replace values by others, and whose buffer is
 * bytes. What is read must be sound; what is not must be refused in a sentence. */
#include "fuzz.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Each value between bars may be replaced. */
static const char document[] =
    "{\"asset\":{\"version\":|\"2.0\"|},\"scene\":|0|,\"scenes\":[{\"nodes\":|[0,1]|}],\"nodes\":[{\"mesh\":|0|,"
    "\"children\":|[2]|,"
    "\"translation\":|[1,2,3]|,\"rotation\":|[0,0,0,1]|},{\"mesh\":|0|,\"matrix\":|[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]|,"
    "\"weights\":|[1]|,\"skin\":|0|},{\"mesh\":|1|,\"scale\":|[1,1,1]|,\"name\":|\"a\"|}],\"meshes\":[{\"primitives\":["
    "{"
    "\"attributes\":|{\"POSITION\":0}|,\"indices\":|1|,\"mode\":|4|,\"targets\":|[{\"POSITION\":2}]|}],\"weights\":|[0."
    "5]|},"
    "{\"primitives\":[{\"attributes\":{\"POSITION\":|2|},\"mode\":|5|,\"extensions\":|{}|},{\"attributes\":{"
    "\"POSITION\":|3|},"
    "\"mode\":|6|}]}],\"accessors\":[{\"bufferView\":|0|,\"byteOffset\":|0|,\"componentType\":|5126|,\"count\":|3|,"
    "\"type\":"
    "|\"VEC3\"|},{\"bufferView\":|1|,\"byteOffset\":|0|,\"componentType\":|5121|,\"count\":|6|,\"type\":|\"SCALAR\"|},"
    "{\"bufferView\":|0|,\"componentType\":|5126|,\"count\":|3|,\"type\":\"VEC3\",\"sparse\":{\"count\":|2|,"
    "\"indices\":{"
    "\"bufferView\":|1|,\"byteOffset\":|0|,\"componentType\":|5121|},\"values\":{\"bufferView\":|0|,\"byteOffset\":|12|"
    "}}},"
    "{\"bufferView\":|2|,\"componentType\":|5122|,\"count\":|4|,\"type\":\"VEC3\",\"normalized\":|true|}],"
    "\"bufferViews\":["
    "{\"buffer\":|0|,\"byteOffset\":|0|,\"byteLength\":|36|},{\"buffer\":|0|,\"byteOffset\":|36|,\"byteLength\":|6|},"
    "{\"buffer\":0,\"byteOffset\":|0|,\"byteLength\":|36|,\"byteStride\":|8|,\"extensions\":|{}|}],\"buffers\":["
    "{\"byteLength\":|42|}],\"extensionsUsed\":|[]|,\"extensionsRequired\":|[]|}";

static const char *const values[] = {"0",
                                     "1",
                                     "2",
                                     "3",
                                     "4",
                                     "5",
                                     "6",
                                     "7",
                                     "8",
                                     "12",
                                     "36",
                                     "-1",
                                     "0.5",
                                     "3.0",
                                     "1e38",
                                     "255",
                                     "65535",
                                     "1048576",
                                     "4294967295",
                                     "281474976710655",
                                     "9223372036854775807",
                                     "5120",
                                     "5121",
                                     "5122",
                                     "5123",
                                     "5125",
                                     "5126",
                                     "null",
                                     "false",
                                     "true",
                                     "\"VEC3\"",
                                     "\"SCALAR\"",
                                     "\"VEC4\"",
                                     "\"KHR_draco_mesh_compression\"",
                                     "[]",
                                     "[0]",
                                     "[1]",
                                     "[2]",
                                     "[0,0]",
                                     "[0.5]",
                                     "[0,0,0]",
                                     "[\"\",\"x\\ny\"]",
                                     "[{},{}]",
                                     "{}",
                                     "{\"POSITION\":1}",
                                     "{\"POSITION\":3}",
                                     "{\"NORMAL\":0}",
                                     "{\"EXT_meshopt_compression\":{}}",
                                     "{\"EXT_mesh_gpu_instancing\":{}}"};

/* Few values differ from the document's, or none would get far. */
static size_t write_document(fuzz_source *s, char *out)
{
    size_t used = 0;
    for (const char *at = document; *at;) {
        const size_t length = strcspn(at, "|");
        memcpy(out + used, at, length);
        used += length;
        at += length;
        if (*at != '|')
            break;
        const size_t own = strcspn(at + 1, "|");
        const unsigned byte = fuzz_byte(s);
        const char *value = byte < 244 ? at + 1 : values[fuzz_byte(s) % (sizeof values / sizeof values[0])];
        const size_t size = byte < 244 ? own : strlen(value);
        memcpy(out + used, value, size);
        used += size;
        at += own + 2;
    }
    return used;
}

static void put_word(char *out, uint32_t word)
{
    memcpy(out, &word, sizeof word);
}

/* The GLB's header is right but for one bit, if that. */
static size_t write_glb(fuzz_source *s, char *out)
{
    const unsigned flip = fuzz_byte(s);
    const size_t json = write_document(s, out + 20), bin = 20 + json;
    size_t size = bin + 8;
    while (s->at < s->size || size < bin + 8 + 42)
        out[size++] = (char)fuzz_byte(s);
    memcpy(out, "glTF", 4);
    put_word(out + 4, 2);
    put_word(out + 8, (uint32_t)size);
    put_word(out + 12, (uint32_t)json);
    memcpy(out + 16, "JSON", 4);
    put_word(out + bin, (uint32_t)(size - bin - 8));
    memcpy(out + bin + 4, "BIN", 4);
    if (flip >= 224)
        out[4 + flip % 16] = (char)(out[4 + flip % 16] ^ (1 << fuzz_byte(s) % 8));
    return size;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = {data, size, 0, 0, 0};
    const unsigned kind = fuzz_byte(&s);
    char *file = malloc(16 * sizeof document + size);
    if (!file)
        abort();
    if (kind < 16)
        fuzz_read_bytes(mesh_read_gltf, data + s.at, size - s.at);
    else
        fuzz_read_bytes(mesh_read_gltf, (const uint8_t *)file,
                        kind < 32 ? write_document(&s, file) : write_glb(&s, file));
    free(file);
    return 0;
}
