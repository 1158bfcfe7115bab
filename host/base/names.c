/* SPDX-License-Identifier: MIT */
/* Names of the values of public enums. */
#include "kernels/layout.h"
#include "carom/carom.h"

_Static_assert(STATE_MISS == (int)CAROM_MISS && STATE_APPROACHING == (int)CAROM_APPROACHING &&
                   STATE_TOUCHING == (int)CAROM_TOUCHING && STATE_OVERLAPPING == (int)CAROM_OVERLAPPING &&
                   STATE_PARTING == (int)CAROM_PARTING && STATE_PAST == (int)CAROM_PAST &&
                   STATE_INVALID == (int)CAROM_INVALID,
               "kernel and public states agree");
_Static_assert(FEATURE_NONE == (int)CAROM_FEATURE_NONE && FEATURE_V0 == (int)CAROM_FEATURE_V0 &&
                   FEATURE_V1 == (int)CAROM_FEATURE_V1 && FEATURE_V2 == (int)CAROM_FEATURE_V2 &&
                   FEATURE_E01 == (int)CAROM_FEATURE_E01 && FEATURE_E12 == (int)CAROM_FEATURE_E12 &&
                   FEATURE_E20 == (int)CAROM_FEATURE_E20 && FEATURE_FACE == (int)CAROM_FEATURE_FACE,
               "kernel and public features agree");
_Static_assert(OVERLAP_INVALID == CAROM_OVERLAP_INVALID, "kernel and public overlap agree");

#define WORD(words, i) ((i) >= 0 && (unsigned long)(i) < sizeof(words) / sizeof *(words) ? (words)[i] : "unknown")

#define TEXT_(number) #number
#define TEXT(number) TEXT_(number)

const char *carom_version(void)
{
    return TEXT(CAROM_VERSION_MAJOR) "." TEXT(CAROM_VERSION_MINOR) "." TEXT(CAROM_VERSION_PATCH);
}

const char *carom_status_name(carom_status status)
{
    static const char *const words[] = {
        "ok",          "invalid argument", "out of memory", "no device", "not bit-exact", "kernel build failed",
        "device lost", "unsupported",      "cancelled",     "timeout"};
    return WORD(words, (int)status);
}

const char *carom_state_name(carom_state state)
{
    static const char *const words[] = {"miss", "approaching", "touching", "overlapping", "parting", "past", "invalid"};
    return WORD(words, (int)state);
}

const char *carom_feature_name(carom_feature feature)
{
    static const char *const words[] = {"none", "V0", "V1", "V2", "E01", "E12", "E20", "F"};
    return WORD(words, (int)feature);
}

const char *carom_isa_name(carom_isa isa)
{
    static const char *const words[] = {"auto", "scalar", "sse4.1", "avx2", "avx512", "neon"};
    return WORD(words, (int)isa);
}

const char *carom_backend_name(carom_backend backend)
{
    static const char *const words[] = {"auto", "cpu", "opencl"};
    return WORD(words, (int)backend);
}
