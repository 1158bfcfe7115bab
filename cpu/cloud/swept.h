/* SPDX-License-Identifier: MIT */
/* Sweep test of pairs of moving spheres that a scan has found near each other in a slice of time: whether they may meet
 * within the slice, and whether they certainly overlap at its begin. Included by runs.h. docs/spheres.md, section
 * 9, has the proof. */
#include "cloud.h"
#include "kernels/cloud_test.h"

enum {
    CLOUD_SWEEP = 512,   /* pairs that are tested at a time, about */
    CLOUD_SWEEP_RUN = 64 /* a multiple of all lanes, and of 8 */
};

/* Differences B - A of the inputs of pairs, and the sums of the radii: a row for each input, a column for each pair. */
typedef struct cloud_relative {
    real number[CAROMI_GIVEN][CLOUD_SWEEP_RUN];
} cloud_relative;

#if LANES >= 8
/* Transposes eight rows of differences into columns. */
FN void cloud_transpose_8(const real *const rows[8], const real *const subtracted[8], real (*to)[CLOUD_SWEEP_RUN],
                          uint32_t at)
{
    const __m256 sign = _mm256_setr_ps(-1, -1, -1, 1, -1, -1, -1, -1);
    __m256 r[8], s[8];
    LANG_UNROLL
    for (int i = 0; i < 8; i++)
        /* Differences b - a; the fourth number is the radius, which is added. */
        r[i] = _mm256_add_ps(_mm256_loadu_ps(rows[i]), _mm256_mul_ps(_mm256_loadu_ps(subtracted[i]), sign));
    LANG_UNROLL
    for (int i = 0; i < 8; i += 2) {
        /* Transposes 8 x 8 numbers: pairs of rows, then quarters, then halves. */
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    LANG_UNROLL
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
    }
    LANG_UNROLL
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(to[i] + at, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to[i + 4] + at, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}
#else
/* The same in scalar code. */
FN void cloud_transpose_8(const real *const rows[8], const real *const subtracted[8], real (*to)[CLOUD_SWEEP_RUN],
                          uint32_t at)
{
    for (uint32_t i = 0; i < 8; i++)
        for (int k = 0; k < CAROMI_GIVEN; k++)
            to[k][at + i] = k == CAROMI_GIVEN_R ? rows[i][k] + subtracted[i][k] : rows[i][k] - subtracted[i][k];
}
#endif

/* Differences of `count` pairs, at most CLOUD_SWEEP_RUN, padded with the last pair to a multiple of 8. */
FN void cloud_relate_pairs(const caromi_cloud_motion *motion, int image, const uint32_t *a, const uint32_t *b,
                           uint32_t count, cloud_relative *to)
{
    for (uint32_t i = 0; i < count; i += 8) {
        const real *rows[8], *subtracted[8];
        for (uint32_t row = 0; row < 8; row++) {
            const uint32_t at = i + row < count ? i + row : count - 1;
            subtracted[row] = motion->given + (size_t)CAROMI_GIVEN * a[at];
            rows[row] = motion->given + (size_t)CAROMI_GIVEN * b[at];
        }
        cloud_transpose_8(rows, subtracted, to->number, i);
    }
    for (int row = 0; image != CAROMI_IMAGE_OWN && row < 3; row++)
        for (uint32_t i = 0; i < count; i++)
            to->number[row][i] -= (real)caromi_image_step(image, row) * motion->period[row];
}

/* Tests LANES pairs. `more`: error bound of the offsets. */
FN cloud_lanes_found cloud_meet_at(const caromi_cloud_motion *motion, float more, const cloud_relative *relative,
                                   uint32_t at)
{
    const v3 d =
        v3_of(v_load(relative->number[0] + at), v_load(relative->number[1] + at), v_load(relative->number[2] + at));
    const v3 v =
        v3_of(v_load(relative->number[CAROMI_GIVEN_VX] + at), v_load(relative->number[CAROMI_GIVEN_VX + 1] + at),
              v_load(relative->number[CAROMI_GIVEN_VX + 2] + at));
    return cloud_meet(d, v, v_load(relative->number[CAROMI_GIVEN_R] + at), v_f(motion->begin), v_f(motion->end),
                      v_f(more));
}

/* Appends the pairs (a, b) of the lanes in the bitmask. Stores LANES pairs. */
FN uint32_t cloud_append_both(caromi_cloud_pairs *pairs, uint32_t count, const uint32_t *a, const uint32_t *b,
                              u32 lanes)
{
#ifdef LANG_HAS_COMPRESS
    vf rows[2];
    memcpy(&rows[0], a, sizeof rows[0]);
    memcpy(&rows[1], b, sizeof rows[1]);
    v_compress((real *)(void *)(pairs->a + count), CAROMI_CLOUD_PAIRS, rows, 2, lanes);
#else
    memcpy(pairs->a + count, a, LANES * sizeof *a);
    memcpy(pairs->b + count, b, LANES * sizeof *b);
#endif
    return count + (uint32_t)bitmask_count(lanes);
}

/* Tests all pairs in found->swept, and appends the undecided and the certain ones. */
static void cloud_sweep(const caromi_cloud_view *view, caromi_cloud_found *found)
{
    const caromi_cloud_motion *motion = &view->motion;
    const caromi_cloud_pairs *from = &found->swept;
    caromi_cloud_pairs *certain = &found->certain;
    const u32 is_certain = motion->begun == CAROMI_BEGUN_CERTAIN ? ~(u32)0 : 0;
    const u32 is_known = motion->begun == CAROMI_BEGUN_UNDECIDED ? 0 : ~(u32)0;
    const float more = found->image == CAROMI_IMAGE_OWN ? 0.0f : motion->error;
    cloud_relative relative;
    for (uint32_t begin = 0; begin < from->count; begin += CLOUD_SWEEP_RUN) {
        const uint32_t left = from->count - begin, count = left < CLOUD_SWEEP_RUN ? left : CLOUD_SWEEP_RUN;
        const uint32_t old_count = certain->count;
        cloud_relate_pairs(motion, found->image, from->a + begin, from->b + begin, count, &relative);
        for (uint32_t i = 0; i < count; i += LANES) {
            /* Tests LANES pairs; pairs that overlap at the begin are treated as motion->begun says. */
            const uint32_t *a = from->a + begin + i, *b = from->b + begin + i;
            const cloud_lanes_found tested =
                cloud_keep(cloud_meet_at(motion, more, &relative, i), cloud_lanes(count - i));
            const u32 begun = tested.some & tested.certain & is_known;
            found->undecided.count =
                cloud_append_both(&found->undecided, found->undecided.count, a, b, tested.some & ~begun);
            certain->count = cloud_append_both(certain, certain->count, a, b, begun & is_certain);
        }
        /* Certain pairs are given by index. */
        for (uint32_t pair = old_count; pair < certain->count; pair++) {
            certain->a[pair] = view->index[certain->a[pair]];
            certain->b[pair] = view->index[certain->b[pair]];
        }
        if ((certain->count | found->undecided.count) >= CAROMI_CLOUD_FLUSH)
            found->flush(found);
    }
    found->swept.count = 0;
}
