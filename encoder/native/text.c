/* Text as orjson writes it: UTF-8 in quotes; what JSON must escape, and nothing else, is escaped. */
#include "out.h"

#include <stdint.h>

/* The longest escape, \u00XX. */
enum { ESCAPED_BYTES = 6 };

static const char HEX[] = "0123456789abcdef";

static inline int needs_escape(unsigned char byte) { return byte < 0x20 || byte == '"' || byte == '\\'; }

static char *put_escape(char *at, unsigned char byte) {
    char letter = 0;
    switch (byte) {
    case '"':
    case '\\': letter = (char)byte; break;
    case '\b': letter = 'b'; break;
    case '\t': letter = 't'; break;
    case '\n': letter = 'n'; break;
    case '\f': letter = 'f'; break;
    case '\r': letter = 'r'; break;
    default: break;
    }
    *at++ = '\\';
    if (letter) {
        *at++ = letter;
        return at;
    }
    memcpy(at, "u00", 3);
    at[3] = HEX[byte >> 4];
    at[4] = HEX[byte & 15];
    return at + 5;
}

static inline char *put_ascii(char *at, unsigned char byte) {
    if (needs_escape(byte)) {
        return put_escape(at, byte);
    }
    *at++ = (char)byte;
    return at;
}

/* Whether one of eight ASCII characters must be escaped. */
static inline int any_needs_escape(uint64_t eight) {
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t quotes = eight ^ (ones * '"'), backslashes = eight ^ (ones * '\\');
    uint64_t found = (eight - ones * 0x20) | ((quotes - ones) & ~quotes) | ((backslashes - ones) & ~backslashes);
    return (found & ~eight & highs) != 0;
}

static int write_ascii(Out *out, const unsigned char *text, Py_ssize_t length) {
    /* Eight bytes are copied at once, the last of them beyond the end. */
    if (out_reserve(out, length + 16) < 0) {
        return FAILED;
    }
    Py_ssize_t index = 0;
    out_char(out, '"');
    while (index < length) {
        Py_ssize_t left = length - index;
        uint64_t eight;
        if (left >= 8) {
            memcpy(&eight, text + index, 8);
            if (!any_needs_escape(eight)) {
                memcpy(out_end(out), &eight, 8);
                out->size += 8;
                index += 8;
                continue;
            }
        }
        Py_ssize_t some = left < 8 ? left : 8;
        if (out_reserve(out, ESCAPED_BYTES * some + (left - some) + 16) < 0) {
            return FAILED;
        }
        char *at = out_end(out);
        for (Py_ssize_t end = index + some; index < end; index++) {
            at = put_ascii(at, text[index]);
        }
        out->size = at - out->start;
    }
    out_char(out, '"');
    return WRITTEN;
}

static inline char *put_utf8(char *at, Py_UCS4 character) {
    if (character < 0x80) {
        return put_ascii(at, (unsigned char)character);
    }
    if (character < 0x800) {
        *at++ = (char)(0xc0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *at++ = (char)(0xe0 | character >> 12);
        } else {
            *at++ = (char)(0xf0 | character >> 18);
            *at++ = (char)(0x80 | (character >> 12 & 0x3f));
        }
        *at++ = (char)(0x80 | (character >> 6 & 0x3f));
    }
    *at++ = (char)(0x80 | (character & 0x3f));
    return at;
}

static int write_wide(Out *out, PyObject *text) {
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (out_reserve(out, ESCAPED_BYTES * length + 2) < 0) {
        return FAILED;
    }
    char *at = out_end(out);
    *at++ = '"';
    for (Py_ssize_t index = 0; index < length; index++) {
        Py_UCS4 character = PyUnicode_READ(kind, data, index);
        if (character >= 0xd800 && character < 0xe000) {
            return UNKNOWN;
        }
        at = put_utf8(at, character);
    }
    *at++ = '"';
    out->size = at - out->start;
    return WRITTEN;
}

int write_text(Out *out, PyObject *text) {
    if (PyUnicode_IS_ASCII(text)) {
        return write_ascii(out, PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text));
    }
    return write_wide(out, text);
}
