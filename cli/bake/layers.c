/* SPDX-License-Identifier: MIT */
#include "layers.h"

/* The number of such a record, in the place of a slab's: a mark, the number of layers, and the slab. A slab has at most
 * 2^21 layers, and there are at most 2^36 slabs. */
#define LAYERS_MARK (UINT64_C(1) << 63)
enum { LAYERS_SHIFT = 40 };

static uint64_t record_number(uint64_t slab, uint64_t layers)
{
    return LAYERS_MARK | layers << LAYERS_SHIFT | slab;
}

uint64_t bake_layer_nodes(const bake_plan *plan, const carom_lattice *box)
{
    return box->dims[0] * (plan->kind->axes == 3 ? box->dims[1] : 1);
}

/* The number is the seed: a slab's layers differ from another's, and from more of them. */
static uint64_t checksum_of(const bake_partial *p, uint64_t slab, uint64_t layers, uint64_t nodes,
                            const bake_slab *data)
{
    return bake_nodes_checksum(p->plan, nodes, data, record_number(slab, layers));
}

/* Slabs are computed in order, so the last record tells. */
bake_layers bake_layers_find(const bake_partial *p)
{
    const uint64_t count = bake_journal_record_count(&p->file.journal);
    bake_layers there = {0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t record[2];
        if (!bake_journal_record(&p->file.journal, i, record) || record[0] == BAKE_JOURNAL_COMPLETE ||
            (record[0] & LAYERS_MARK) == 0)
            continue;
        const uint64_t number = record[0] - LAYERS_MARK, layers = number >> LAYERS_SHIFT;
        there = (bake_layers){number - (layers << LAYERS_SHIFT), layers, record[1]};
    }
    if (there.slab < p->plan->begin || there.slab >= p->plan->end || p->done[there.slab - p->plan->begin])
        there.count = 0;
    return there;
}

uint64_t bake_layers_read(const bake_partial *p, const bake_layers *there, const bake_slab *to)
{
    carom_lattice box;
    (void)bake_plan_slab(p->plan, there->slab, &box);
    const int axis = p->plan->kind->axes - 1;
    const uint64_t nodes = there->count * bake_layer_nodes(p->plan, &box);
    const char *unit = axis == 2 ? "layers" : "rows";
    if (there->count > box.dims[axis])
        return 0;
    if (bake_nodes_read(p->file.fd, &p->layout, p->plan, there->slab, nodes, to) != 0 ||
        checksum_of(p, there->slab, there->count, nodes, to) != there->sum) {
        cli_message("%s.partial: the first %s of slab %llu do not have their checksum, and are computed again",
                    p->file.shown, unit, (unsigned long long)there->slab);
        return 0;
    }
    cli_message("%s.partial: slab %llu goes on behind %llu of its %llu %s", p->file.shown,
                (unsigned long long)there->slab, (unsigned long long)there->count, (unsigned long long)box.dims[axis],
                unit);
    return there->count;
}

int bake_layers_put(bake_partial *p, uint64_t slab, uint64_t first, uint64_t end, const bake_slab *from)
{
    carom_lattice box;
    (void)bake_plan_slab(p->plan, slab, &box);
    const uint64_t layer = bake_layer_nodes(p->plan, &box);
    int error = bake_nodes_write(p->file.fd, &p->layout, p->plan, slab, first * layer, end * layer, from);
    if (!error)
        error =
            bake_journal_add(&p->file.journal, record_number(slab, end), checksum_of(p, slab, end, end * layer, from));
    if (!error) {
        p->file.is_mine = 0; /* there is something to go on with */
        error = bake_growing_flush(&p->file);
    }
    return error ? bake_growing_fail(&p->file, "written", error) : EXIT_DONE;
}
