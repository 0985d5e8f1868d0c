// Ids as bytes: keys that equal those of the NumPy code, and tables that find an id by its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lines.hpp"

namespace rankgauge {

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ull;

// The key of an id; padding must follow it.
inline std::uint64_t key_of(const char* begin, std::size_t length) {
    std::uint64_t key = first_bytes(word_at(begin), std::min<std::size_t>(length, 8)) * kMix;
    for (std::size_t offset = 8; offset < length; offset += 8) {
        const std::uint64_t word = first_bytes(word_at(begin + offset), length - offset);
        key = ((key ^ (key >> 29)) + word + offset) * kMix;
    }
    return key;
}

// The same where nothing may be read behind the id.
inline std::uint64_t key_within(const char* begin, std::size_t length) {
    const auto rest = [&](std::size_t offset) -> std::uint64_t {
        const std::size_t left = length - offset;
        if (left >= 8) return word_at(begin + offset);
        if (length >= 8) return word_at(begin + length - 8) >> (8 * (8 - left));
        std::uint64_t word = 0;
        std::memcpy(&word, begin, left);
        return word;
    };
    std::uint64_t key = length == 0 ? 0 : rest(0) * kMix;
    for (std::size_t offset = 8; offset < length; offset += 8) key = ((key ^ (key >> 29)) + rest(offset) + offset) * kMix;
    return key;
}

inline bool same(const char* a, std::size_t n, const char* b, std::size_t m) {
    return n == m && std::memcmp(a, b, n) == 0;
}

// Bytes compared as unsigned, the shorter first where one begins the other: as Python compares.
inline bool greater(const char* a, std::size_t n, const char* b, std::size_t m) {
    const int order = std::memcmp(a, b, std::min(n, m));
    return order != 0 ? order > 0 : n > m;
}

// Asks the memory for a place ahead of its use.
inline void fetch(const void* place) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(place);
#else
    static_cast<void>(place);
#endif
}

// Numbers of ids by their keys, open addressing. It is emptied by counting up its age.
class Table {
public:
    // Room for n ids.
    void begin(std::size_t n) {
        std::size_t wanted = 16;
        while (wanted < 2 * n) wanted *= 2;
        if (wanted > slots_.size()) {
            slots_.assign(wanted, Slot{0, 0, 0});
            age_ = 0;
        }
        mask_ = slots_.size() - 1;
        if (++age_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{0, 0, 0});
            age_ = 1;
        }
    }

    // The number under a key for which `is_it` holds, or -1; then `number` is entered.
    template <typename IsIt>
    std::int64_t enter(std::uint64_t key, std::uint32_t number, IsIt is_it) {
        for (std::size_t at = place(key), steps = 0;; at = (at + 1) & mask_, ++steps) {
            Slot& slot = slots_[at];
            if (slot.age != age_) {
                slot = {key, number, age_};
                return -1;
            }
            if (slot.key == key && is_it(slot.number)) return slot.number;
            if (steps > kMostSteps) throw Irregular{};  // made to collide
        }
    }

    template <typename IsIt>
    std::int64_t find(std::uint64_t key, IsIt is_it) const {
        for (std::size_t at = place(key), steps = 0;; at = (at + 1) & mask_, ++steps) {
            const Slot& slot = slots_[at];
            if (slot.age != age_) return -1;
            if (slot.key == key && is_it(slot.number)) return slot.number;
            if (steps > kMostSteps) throw Irregular{};
        }
    }

private:
    static constexpr std::size_t kMostSteps = 4096;
    struct Slot {
        std::uint64_t key;
        std::uint32_t number;
        std::uint32_t age;
    };
    std::size_t place(std::uint64_t key) const { return (key ^ (key >> 32)) & mask_; }

    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::uint32_t age_ = 0;
};

}  // namespace rankgauge
