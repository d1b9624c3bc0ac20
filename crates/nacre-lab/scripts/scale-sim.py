#!/usr/bin/env python3
"""Simulates the shared queue of a company for one working day, and prints the tables of docs/scale.md.

Every number that is not a result stands in ASSUMED or DATABASE. The same seed gives the same tables.
"""

import heapq
import random
from collections import deque

# Assumptions about how people work, and about what machines and models cost.
ASSUMED = {
    "sessions a developer and day": 6.0,
    "working hours": 10,
    "developers of a repository, on average": 8,
    "seconds to read a session by a model, median": 25.0,
    "seconds to read a session by a model, spread": 0.8,
    "seconds of it that change the store": 0.5,
    "memories a session": 1.9,
    "tokens read a session": 14_000,
    "tokens written a session": 900,
    "dollars a million tokens read": 1.0,
    "dollars a million tokens written": 5.0,
    "dollars a vCPU and month": 25.0,
    "dollars a GB of database and month": 0.25,
    "searches a session": 12,
    "working days a month": 21,
}

# Database costs. These are assumptions; `nacre-lab team scale` measures them on a machine.
DATABASE = {
    "database bytes a memory": 8_000,
    "milliseconds a search, one core": 30.0,
    "milliseconds of the database a session in the queue": 4.0,
}


def arrivals(rng, developers):
    """Moments (seconds) at which sessions end, with the repository of each: busy at ten and at three."""
    repositories = max(1, round(developers / ASSUMED["developers of a repository, on average"]))
    # A few large repositories have by far the most developers.
    weights = [1 / (rank + 1) ** 0.8 for rank in range(repositories)]
    total = round(developers * ASSUMED["sessions a developer and day"])
    names = rng.choices(range(repositories), weights=weights, k=total)
    hours = ASSUMED["working hours"]
    found = []
    for name in names:
        peak = rng.choice([0.3, 0.7])
        at = min(max(rng.gauss(peak, 0.18), 0.0), 1.0) * hours * 3600
        found.append((at, name))
    found.sort()
    return found


def simulate(developers, workers, is_serial, seed=1):
    """Works off a day's sessions; returns waits (seconds), sorted, and the share of time that workers were busy.

    `is_serial`: a repository has one session at work at a time, as now; otherwise only the change of its store is serial.
    """
    rng = random.Random(seed)
    waiting = {}
    running = {}
    ready = []
    ends = []
    waits = []
    busy = 0.0
    free = workers
    store_free = {}
    coming = arrivals(rng, developers)
    place = 0
    now = 0.0
    median, spread = ASSUMED["seconds to read a session by a model, median"], ASSUMED["seconds to read a session by a model, spread"]
    while place < len(coming) or ends:
        next_end = ends[0][0] if ends else float("inf")
        next_come = coming[place][0] if place < len(coming) else float("inf")
        if next_come <= next_end:
            now, name = coming[place]
            place += 1
            waiting.setdefault(name, deque()).append(now)
            if not is_serial or (running.get(name, 0) == 0 and len(waiting[name]) == 1):
                heapq.heappush(ready, (now, name))
        else:
            now, name, begun = heapq.heappop(ends)
            free += 1
            running[name] -= 1
            if is_serial and waiting.get(name):
                heapq.heappush(ready, (waiting[name][0], name))
        while free and ready:
            came, name = heapq.heappop(ready)
            waiting[name].popleft()
            took = min(rng.lognormvariate(0, spread) * median, 900)
            end = now + took
            if not is_serial:
                change = ASSUMED["seconds of it that change the store"]
                end = max(end, store_free.get(name, 0.0)) + change
                store_free[name] = end
            running[name] = running.get(name, 0) + 1
            free -= 1
            busy += end - now
            waits.append(now - came)
            heapq.heappush(ends, (end, name, now))
    waits.sort()
    return waits, busy / (workers * max(now, 1.0)), now


def at(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def clock(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def enough(developers, is_serial):
    """The smallest number of workers (of these) whose waits no longer get much better."""
    best = None
    for workers in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]:
        waits, share, end = simulate(developers, workers, is_serial)
        p95 = at(waits, 0.95)
        p50 = at(waits, 0.5)
        if best and p95 >= 0.9 * best[1] and p50 >= 0.9 * best[2]:
            return best
        best = (workers, p95, p50, share, end)
        if p95 < 60:
            return best
    return best


def workers_table():
    print("### Workers\n")
    print("| developers | sessions a day | one session of a repository at a time: workers, wait p50 / p95 | only its change in turn: workers, wait p50 / p95 |")
    print("|---|---|---|---|")
    for developers in [10, 100, 1_000, 10_000]:
        cells = []
        for is_serial in [True, False]:
            workers, p95, p50, _, _ = enough(developers, is_serial)
            cells.append(f"{workers}, {clock(p50)} / {clock(p95)}")
        sessions = round(developers * ASSUMED["sessions a developer and day"])
        print(f"| {developers:,} | {sessions:,} | {cells[0]} | {cells[1]} |")


def database_table():
    print("\n### Database\n")
    print("| developers | memories after a year | database | queue and search, cores at the busiest hour |")
    print("|---|---|---|---|")
    for developers in [10, 100, 1_000, 10_000, 50_000]:
        sessions = developers * ASSUMED["sessions a developer and day"]
        memories = sessions * ASSUMED["memories a session"] * ASSUMED["working days a month"] * 12
        size = memories * DATABASE["database bytes a memory"]
        # The busiest hour has about twice as many sessions as an average hour.
        a_second = 2 * sessions / ASSUMED["working hours"] / 3600
        spent = DATABASE["milliseconds of the database a session in the queue"]
        spent += ASSUMED["searches a session"] * DATABASE["milliseconds a search, one core"]
        cores = a_second * spent / 1000
        print(f"| {developers:,} | {memories:,.0f} | {size / 1e9:,.1f} GB | {cores:,.2f} |")


def cost_table():
    print("\n### Cost of 1,000 sessions\n")
    model = ASSUMED["tokens read a session"] * ASSUMED["dollars a million tokens read"]
    model = (model + ASSUMED["tokens written a session"] * ASSUMED["dollars a million tokens written"]) / 1e6 * 1000
    spent = DATABASE["milliseconds of the database a session in the queue"]
    spent += ASSUMED["searches a session"] * DATABASE["milliseconds a search, one core"]
    # Cores are paid for all month but sized for the busiest hour, which has a fifth of the load.
    cores = 1000 * spent / 1000 / 3600 * ASSUMED["dollars a vCPU and month"] / 730 * 5
    stored = 1000 * ASSUMED["memories a session"] * DATABASE["database bytes a memory"] / 1e9
    stored_cost = stored * ASSUMED["dollars a GB of database and month"] * 12
    print("| what | dollars |")
    print("|---|---|")
    print(f"| the model that reads them | {model:.2f} |")
    print(f"| the database's processors | {cores:.3f} |")
    print(f"| keeping their memories for a year | {stored_cost:.3f} |")


def main():
    workers_table()
    database_table()
    cost_table()


if __name__ == "__main__":
    main()
