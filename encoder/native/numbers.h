/* Numbers as orjson writes them, and floats rounded to four decimals as Python rounds them.

   Each function writes at a place with NUMBER_BYTES of room, and returns the end of what it wrote. */
#ifndef UNSTALL_NUMBERS_H
#define UNSTALL_NUMBERS_H

#include "out.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "Products must be rounded to doubles one by one: x87 arithmetic does not."
#endif

enum { NUMBER_BYTES = 24 };
#define SCALE 10000.0
/* Below it a decimal has at most 15 digits, so that it is the shortest one of its double. */
#define MOST_MULTIPLE 1e15

extern char FOUR[10000 + 1][4];
extern unsigned char KEPT[10000];

void numbers_prepare(void);

/* Four digits without the zeros before them; at least one. Copies four bytes. */
static inline char *put_leading(char *at, unsigned number) {
    int zeros = (number < 1000) + (number < 100) + (number < 10);
    memcpy(at, FOUR[number] + zeros, 4);
    return at + 4 - zeros;
}

static inline char *put_four(char *at, unsigned number) {
    memcpy(at, FOUR[number], 4);
    return at + 4;
}

static inline char *put_unsigned(char *at, unsigned long long value) {
    if (value < 10000) {
        return put_leading(at, (unsigned)value);
    }
    if (value < 100000000) {
        unsigned small = (unsigned)value;
        return put_four(put_leading(at, small / 10000), small % 10000);
    }
    unsigned low = (unsigned)(value % 100000000);
    at = put_unsigned(at, value / 100000000);
    return put_four(put_four(at, low / 10000), low % 10000);
}

static inline char *put_signed(char *at, long long value) {
    if (value < 0) {
        *at++ = '-';
        return put_unsigned(at, 0 - (unsigned long long)value);
    }
    return put_unsigned(at, (unsigned long long)value);
}

/* The point, and four digits without the zeros at the end; at least one. */
static inline char *put_part(char *at, unsigned part) {
    *at++ = '.';
    memcpy(at, FOUR[part], 4);
    return at + KEPT[part];
}

/* A multiple of 0.0001. */
static inline char *put_units(char *at, uint32_t units, int is_negative) {
    uint32_t whole = units / 10000;
    *at = '-';
    at += is_negative;
    if (whole < 10) {
        *at++ = (char)('0' + whole);
    } else {
        at = put_unsigned(at, whole);
    }
    return put_part(at, units % 10000);
}

/* The integer nearest to value * 10000, halves to even, for products below 2**52: see rounding.py for why. */
static inline double nearest_multiple(double value) {
    double product = value * SCALE;
    double nearest = rint(product);
    double distance = product - nearest;
    if (distance == 0.5 || distance == -0.5) {
        double error = fma(value, SCALE, -product);
        if (error > 0) {
            return ceil(product);
        }
        if (error < 0) {
            return floor(product);
        }
    }
    return nearest;
}

/* A decimal of at most 15 digits, given as its multiple of 0.0001: the shortest of the double that is nearest to it. */
static inline char *put_multiple(char *at, double multiple, int is_negative) {
    unsigned long long units = (unsigned long long)fabs(multiple);
    if (units < UINT32_MAX) {
        return put_units(at, (uint32_t)units, is_negative);
    }
    *at = '-';
    at = put_unsigned(at + is_negative, units / 10000);
    return put_part(at, (unsigned)(units % 10000));
}

/* Added to a product, this leaves the nearest integer, halves to even, in the low bits of the sum. */
#define SHIFT (1.5 * 4503599627370496.0)
#define MOST_SHIFTED 1e9

/* One float rounded to four decimals; NULL where this needs more than doubles can say. */
static inline char *put_rounded(char *at, double value) {
    double product = value * SCALE;
    if (fabs(product) < MOST_SHIFTED) {
        double shifted = product + SHIFT;
        double distance = product - (shifted - SHIFT);
        if (distance != 0.5 && distance != -0.5) {
            int64_t bits;
            memcpy(&bits, &shifted, sizeof bits);
            int32_t units = (int32_t)bits;
            return put_units(at, (uint32_t)(units < 0 ? -units : units), signbit(value) != 0);
        }
    }
    if (!isfinite(value)) {
        memcpy(at, "null", 4);
        return at + 4;
    }
    double multiple = nearest_multiple(value);
    return fabs(multiple) < MOST_MULTIPLE ? put_multiple(at, multiple, signbit(value) != 0) : NULL;
}

#endif
