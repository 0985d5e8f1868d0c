// One list after the other to ranks and grades of the judged documents in it.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ids.hpp"
#include "judgments.hpp"

namespace rankgauge {

enum class Ties { trec, given, expected, stable };

struct Hit {
    std::uint32_t owner, above, tied, judgment;
    bool tie_met;
};

// Of no more than a quarter of what 32 bits count to, as lists and judgments are checked to be.
inline Hit hit_of(std::int64_t owner, std::int64_t above, std::int64_t tied, std::int64_t judgment, bool tie_met) {
    const auto narrow = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
    return {narrow(owner), narrow(above), narrow(tied), narrow(judgment), tie_met};
}

// What a part of the run gave.
struct Found {
    std::vector<Hit> hits;
    std::vector<std::int64_t> owner, retrieved;  // of the judged queries in it
    std::vector<double> top;
    std::vector<std::string> unjudged, first;  // queries in it that have no judgments, and those that stand first
    std::size_t queries = 0;
};

constexpr std::size_t kFirst = 5;

// In rank order; those at one rank stay as they are.
inline void order_by_rank(Hit* begin, Hit* end) {
    const auto before = [](const Hit& a, const Hit& b) { return a.above < b.above; };
    if (end - begin > 32) {
        if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
        return;
    }
    for (Hit* next = begin; next < end; ++next) {  // without the memory that a stable sort asks for
        const Hit own = *next;
        Hit* place = next;
        for (; place > begin && own.above < place[-1].above; --place) *place = place[-1];
        *place = own;
    }
}

struct Listed {
    double score;
    std::uint64_t key;
    const char* doc;
    std::uint32_t length;
};

// One list after the other.
class Lists {
public:
    Lists(const Index& index, Ties ties, bool single) : index_(index), ties_(ties), single_(single) {}

    Found found;
    std::vector<Listed> rows;

    void finish(const Id& query) {
        const std::int64_t owner = index_.find(query, likely_);
        ++found.queries;
        if (found.first.size() < kFirst) found.first.emplace_back(query.begin, query.length);
        if (owner < 0) found.unjudged.emplace_back(query.begin, query.length);
        const std::size_t n = rows.size();
        if (n > UINT32_MAX / 4) throw Irregular{};
        docs_.begin(n);
        for (std::size_t i = 0; i < n; ++i) {
            const Listed& own = rows[i];
            if (docs_.enter(own.key, static_cast<std::uint32_t>(i), [&](std::uint32_t other) {
                    return same(own.doc, own.length, rows[other].doc, rows[other].length);
                }) >= 0)
                throw Irregular{};  // stands twice
        }
        if (owner >= 0) match(owner);
        likely_ = owner + 1;
        rows.clear();
    }

private:
    void match(std::int64_t owner) {
        const std::size_t n = rows.size();
        double best = rows[0].score;
        bool falls = true;  // strictly, so that every row's place is its rank
        if (single_) {
            for (Listed& row : rows) row.score = static_cast<double>(static_cast<float>(row.score));
            best = rows[0].score;
        }
        for (std::size_t i = 1; i < n; ++i) {
            falls &= rows[i].score < rows[i - 1].score;
            best = std::max(best, rows[i].score);
        }
        found.owner.push_back(owner);
        found.retrieved.push_back(static_cast<std::int64_t>(n));
        found.top.push_back(ties_ == Ties::given ? rows[0].score : best);
        const Judged& judged = index_.judged();
        const std::size_t before = found.hits.size();
        bool ordered = false;
        for (std::int64_t row = index_.starts[owner]; row < index_.starts[owner + 1]; ++row) {
            const Id doc = judged.doc(row);
            const std::int64_t at = docs_.find(doc.key, [&](std::uint32_t other) {
                return same(doc.begin, doc.length, rows[other].doc, rows[other].length);
            });
            if (at < 0) continue;
            if (falls) {
                found.hits.push_back(hit_of(owner, at, 1, row, false));
                continue;
            }
            if (!ordered) order();
            ordered = true;
            tied_.push_back({static_cast<std::uint32_t>(at), row});
        }
        // Documents that stay tied stand as the run lists them.
        std::sort(tied_.begin(), tied_.end());
        for (const auto& [at, row] : tied_) found.hits.push_back(place(owner, row, at));
        tied_.clear();
        order_by_rank(found.hits.data() + before, found.hits.data() + found.hits.size());
    }

    // Positions of the rows by score, ties as the contract has them.
    void order() {
        const auto n = static_cast<std::uint32_t>(rows.size());
        order_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) order_[i] = i;
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (rows[a].score != rows[b].score) return rows[a].score > rows[b].score;
            if (ties_ == Ties::trec) return greater(rows[a].doc, rows[a].length, rows[b].doc, rows[b].length);
            return a < b;
        });
        rank_.resize(n);
        first_.resize(n);
        size_.resize(n);
        for (std::uint32_t i = 0; i < n;) {
            std::uint32_t end = i + 1;
            while (end < n && rows[order_[end]].score == rows[order_[i]].score) ++end;
            for (std::uint32_t j = i; j < end; ++j) {
                rank_[order_[j]] = j;
                first_[order_[j]] = i;
                size_[order_[j]] = end - i;
            }
            i = end;
        }
    }

    Hit place(std::int64_t owner, std::int64_t judgment, std::uint32_t at) const {
        const bool met = size_[at] > 1;
        if (ties_ == Ties::expected) return hit_of(owner, first_[at], size_[at], judgment, met);
        return hit_of(owner, ties_ == Ties::given ? at : rank_[at], 1, judgment, met);
    }

    const Index& index_;
    const Ties ties_;
    const bool single_;
    std::int64_t likely_ = 0;
    Table docs_;
    std::vector<std::uint32_t> order_, rank_, first_, size_;
    std::vector<std::pair<std::uint32_t, std::int64_t>> tied_;
};

// What all parts gave, as columns that are filled: of the hits, and of the judged queries.
struct Whole {
    std::int64_t *owner, *above, *tied, *judgment;
    std::uint8_t *tie_met, *in_run;
    std::int64_t* retrieved;
    double* top;
};

inline std::size_t hits_in(const std::vector<Found>& found) {
    std::size_t hits = 0;
    for (const Found& one : found) hits += one.hits.size();
    return hits;
}

// The queries in all parts, judged or not; none is irregular, and so is one that comes back.
inline std::size_t queries_in(const std::vector<Found>& found) {
    std::size_t queries = 0, unjudged = 0;
    for (const Found& one : found) {
        queries += one.queries;
        unjudged += one.unjudged.size();
    }
    if (queries == 0 || unjudged > UINT32_MAX / 4) throw Irregular{};
    std::vector<const std::string*> heads;
    heads.reserve(unjudged);
    Table seen;
    seen.begin(unjudged);
    for (const Found& one : found) {
        for (const std::string& head : one.unjudged) {
            if (seen.enter(key_within(head.data(), head.size()), static_cast<std::uint32_t>(heads.size()),
                           [&](std::uint32_t other) { return *heads[other] == head; }) >= 0)
                throw Irregular{};
            heads.push_back(&head);
        }
    }
    return queries;
}

inline void fill(const Whole& whole, const std::vector<Found>& found, std::size_t judged) {
    std::fill_n(whole.in_run, judged, std::uint8_t{0});
    std::fill_n(whole.retrieved, judged, std::int64_t{0});
    std::fill_n(whole.top, judged, std::nan(""));
    std::size_t place = 0;
    for (const Found& one : found) {
        for (std::size_t i = 0; i < one.owner.size(); ++i) {
            const auto at = static_cast<std::size_t>(one.owner[i]);
            if (whole.in_run[at] != 0) throw Irregular{};
            whole.in_run[at] = 1;
            whole.retrieved[at] = one.retrieved[i];
            whole.top[at] = one.top[i];
        }
        for (const Hit& hit : one.hits) {
            whole.owner[place] = hit.owner;
            whole.above[place] = hit.above;
            whole.tied[place] = hit.tied;
            whole.judgment[place] = hit.judgment;
            whole.tie_met[place++] = hit.tie_met ? 1 : 0;
        }
    }
}

}  // namespace rankgauge
