// Lines of TREC text: fields between blanks, numbers correctly rounded, and what is not plain refused.
//
// Whoever is told `Irregular` hands the text to the readers in Python, which read all that trec_eval reads and name
// every fault with its line. So nothing here has to explain anything.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <locale>
#include <sstream>
#include <string>

namespace rankgauge {

struct Irregular {};

// Bytes behind every text that may be read, though they mean nothing.
constexpr std::size_t kPadding = 16;

inline std::uint64_t word_at(const char* place) {
    std::uint64_t word;
    std::memcpy(&word, place, sizeof word);
    return word;
}

inline std::uint64_t first_bytes(std::uint64_t word, std::size_t n) {
    return n >= 8 ? word : word & ((std::uint64_t{1} << (8 * n)) - 1);
}

// What bytes a text holds beyond printable ASCII and ends of lines.
struct Bytes {
    bool high = false;     // of letters beyond ASCII
    bool control = false;  // tabs and all else below the blank
};

inline Bytes bytes_in(const char* begin, const char* end) {
    unsigned char high = 0, control = 0;
    for (const char* at = begin; at < end; ++at) {
        const auto c = static_cast<unsigned char>(*at);
        high |= c;
        control |= static_cast<unsigned char>((c < 0x20) & (c != '\n'));
    }
    return {(high & 0x80) != 0, control != 0};
}

// Whether a text is UTF-8 as Unicode has it: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(const char* begin, const char* end) {
    const auto* at = reinterpret_cast<const unsigned char*>(begin);
    const auto* last = reinterpret_cast<const unsigned char*>(end);
    while (at < last) {
        const unsigned char c = *at;
        if (c < 0x80) {
            ++at;
            continue;
        }
        const std::ptrdiff_t left = last - at;
        const auto follows = [&](int i) { return left > i && (at[i] & 0xC0) == 0x80; };
        if (c >= 0xC2 && c <= 0xDF && follows(1)) {
            at += 2;
        } else if (c >= 0xE0 && c <= 0xEF && follows(1) && follows(2)) {
            if ((c == 0xE0 && at[1] < 0xA0) || (c == 0xED && at[1] > 0x9F)) return false;
            at += 3;
        } else if (c >= 0xF0 && c <= 0xF4 && follows(1) && follows(2) && follows(3)) {
            if ((c == 0xF0 && at[1] < 0x90) || (c == 0xF4 && at[1] > 0x8F)) return false;
            at += 4;
        } else {
            return false;
        }
    }
    return true;
}

// Refuses control characters but tabs and the return before an end of line.
inline bool only_tabs_and_returns(const char* begin, const char* end) {
    for (const char* at = begin; at < end; ++at) {
        const auto c = static_cast<unsigned char>(*at);
        if (c >= 0x20 || c == '\n' || c == '\t') continue;
        if (c == '\r' && at + 1 < end && at[1] == '\n') continue;
        return false;
    }
    return true;
}

// Refuses what is no plain text; must be called before lines are read.
inline void check_text(const char* begin, const char* end) {
    const Bytes found = bytes_in(begin, end);
    if (found.high && !is_utf8(begin, end)) throw Irregular{};
    if (found.control && !only_tabs_and_returns(begin, end)) throw Irregular{};
}

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_field(char c) { return static_cast<unsigned char>(c) <= ' '; }

struct Field {
    const char* begin;
    std::size_t length;
};

// The float next to a decimal number without a sign, by the library. Some have no std::from_chars for floats; streams
// of the classic locale then do, which are slower. RANKGAUGE_PORTABLE takes them anyway.
inline double rounded(const char* begin, const char* end) {
    double value = 0.0;
#if defined(__cpp_lib_to_chars) && !defined(RANKGAUGE_PORTABLE)
    const auto read = std::from_chars(begin, end, value);
    if (read.ec != std::errc{} || read.ptr != end) throw Irregular{};
#else
    std::istringstream text(std::string(begin, end));
    text.imbue(std::locale::classic());
    if (!(text >> value) || text.peek() != std::istringstream::traits_type::eof()) throw Irregular{};
#endif
    if (!std::isfinite(value)) throw Irregular{};
    return value;
}

// A number as Python's float() reads its decimal forms. Up to 15 digits and small powers of ten are exact, and so is
// their quotient once rounded; the rest is left to the library.
inline double number_of(const char* begin, const char* end) {
    static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char* at = begin;
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) ++at;
    std::uint64_t mantissa = 0;
    int digits = 0, decimals = 0;
    bool point = false;
    const char* const first = at;
    for (; at < end; ++at) {
        const unsigned digit = static_cast<unsigned char>(*at) - static_cast<unsigned>('0');
        if (digit < 10) {
            mantissa = mantissa * 10 + digit;
            ++digits;
            decimals += point;
        } else if (*at == '.' && !point) {
            point = true;
        } else {
            break;
        }
        if (digits > 15) break;
    }
    if (at == end && digits > 0) {
        const double value = static_cast<double>(mantissa) / kPowers[decimals];
        return negative ? -value : value;
    }
    // Digits, at most one point among or beside them, and an exponent that has digits: nothing else is a number.
    const char* look = first;
    bool any = false, dotted = false;
    for (; look < end; ++look) {
        if (*look >= '0' && *look <= '9') {
            any = true;
        } else if (*look == '.' && !dotted) {
            dotted = true;
        } else {
            break;
        }
    }
    if (!any) throw Irregular{};
    if (look < end) {
        if (*look != 'e' && *look != 'E') throw Irregular{};
        ++look;
        if (look < end && (*look == '-' || *look == '+')) ++look;
        if (look == end) throw Irregular{};
        for (; look < end; ++look) {
            if (*look < '0' || *look > '9') throw Irregular{};
        }
    }
    const double value = rounded(first, end);
    return negative ? -value : value;
}

struct Line {
    Field query;
    Field second;
    Field doc;
    double number;
    int fields;
};

// Reads the line that begins at `at` and goes on until `end`, its end of line excluded. False where it holds nothing.
inline bool read_line(const char* at, const char* end, int least, int number_at, Line& line) {
    if (at < end && *at == '#') return false;
    Field found[6];
    int n = 0;
    while (true) {
        while (at < end && is_blank(*at)) ++at;
        if (at == end) break;
        const char* begin = at;
        while (at < end && !ends_field(*at)) ++at;
        if (n < 6) found[n] = {begin, static_cast<std::size_t>(at - begin)};
        ++n;
        if (n == least && least == 6) break;  // of a run, what follows is passed over
    }
    if (n == 0) return false;
    if (n < least) throw Irregular{};
    line.query = found[0];
    line.second = found[1];
    line.doc = found[2];
    line.fields = n;
    line.number = number_of(found[number_at].begin, found[number_at].begin + found[number_at].length);
    return true;
}

}  // namespace rankgauge
