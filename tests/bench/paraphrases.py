"""Measures what is found that was said in quite other words: python -m tests.bench.paraphrases FOLDER [--misses].

FOLDER holds the labelled conversations of `tests.bench.recall`; three thousand of their turns are what the sentences
below are hidden in. Each is asked for by a question that shares no word with it but the commonest; with `--by-a-model`
also by what a language model made of the question that was told what a query of `conversation_recall` is: a large one,
once with each of two wordings, which saw the questions and that wording alone (`queries_by_a_model.json`).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tests.bench.recall import heading, measure

TURNS = 3_000
LONGEST = 1_500
"""Characters of a turn in which nothing is hidden."""

PAIRS = (
    ("My sister's wedding is on the twelfth of July.", "who gets married in summer?"),
    ("The printer on the third floor is out of toner again.", "which machine has run dry of ink?"),
    ("Let's ship version two on Friday.", "when do we release?"),
    ("We must never store passwords in plain text.", "how should credentials be saved?"),
    ("The nightly job crashed because the disk was full.", "why did the backup fail?"),
    ("I moved to Lisbon last spring for the new position.", "which city do I live in?"),
    ("Our biggest customer wants a discount of ten percent.", "who asked for cheaper prices?"),
    ("The tests take forty minutes on the old server.", "how slow is the suite?"),
    ("Grandma broke her hip and is in hospital.", "which relative is injured?"),
    ("I bought a second-hand bicycle for two hundred euros.", "what did the used bike cost?"),
    ("The meeting with the lawyers is postponed to Monday.", "when do we see the attorneys?"),
    ("Please write all dates in the ISO form.", "which format do timestamps have?"),
    ("The new hire starts in the data team next week.", "when does the recruit begin?"),
    ("My dog swallowed a sock and the vet took it out.", "what happened to my pet?"),
    ("The invoice was paid twice by mistake.", "which bill did we settle two times?"),
    ("I am allergic to peanuts.", "what food can I not eat?"),
    ("The flight leaves at six in the morning from terminal two.", "when does the plane take off?"),
    ("Our landlord raises the rent in January.", "how does my apartment get more expensive?"),
    ("The login page is broken on small phones.", "what is wrong with sign-in on mobile?"),
    ("We chose the blue logo over the red one.", "what colour is our brand mark?"),
    ("The contractor will repair the roof in May.", "who fixes the leak above?"),
    ("I quit smoking three years ago.", "when did I give up cigarettes?"),
    ("The queue grows faster than the workers empty it.", "why is there a backlog?"),
    ("He plays the cello in the city orchestra.", "which instrument does he perform on?"),
    ("The kids spend the holidays at a farm in Denmark.", "where do the children go on vacation?"),
    ("Memory usage climbs until the process is killed.", "what do we know about the RAM leak?"),
    ("The contract ends on the last day of March.", "when does the agreement expire?"),
    ("I prefer tea over coffee in the afternoon.", "what do I like to drink?"),
    ("Only administrators may delete projects.", "who is allowed to remove repositories?"),
    ("The movie we saw yesterday was far too long.", "what did we think of the film?"),
    ("The deploy on Tuesday took the shop offline for an hour.", "what caused the outage of the store?"),
    ("We renamed the customer table to accounts.", "what is the clients relation called now?"),
    ("My flatmate is moving out at the end of the month.", "when does my roommate leave?"),
    ("The cache must be emptied after every release.", "what needs clearing once we publish?"),
    ("I hurt my knee while jogging.", "how did I injure my leg running?"),
    ("Only integers are accepted in that column.", "which data type is allowed for the field?"),
    ("The boss approved the budget yesterday.", "did the manager sign off on the spending?"),
    ("We use tabs, never spaces.", "what is our indentation style?"),
    ("Her new apartment has a view of the lake.", "what can she see from her flat?"),
    ("The server room gets too hot in August.", "where do we have a cooling problem in summer?"),
    ("He failed the driving test twice.", "how many attempts at the licence exam went wrong?"),
    ("The API answers with error 429 when we ask too often.", "what happens if we exceed the rate limit?"),
    ("The parcel was sent to the wrong address.", "where did the package end up by mistake?"),
    ("I want the report as a spreadsheet.", "in which file format should the summary be delivered?"),
    ("The kids are scared of thunderstorms.", "what are the children afraid of?"),
    ("Logging every request slows the service down.", "why is performance bad when tracing is on?"),
    ("The garage charged me four hundred for new brakes.", "how expensive was the car repair?"),
    ("Please don't touch the migration scripts.", "which code must stay as it is?"),
    ("My grandfather was a baker in Vienna.", "what was the profession of my ancestor?"),
    ("The certificate runs out next Thursday.", "when does TLS stop working?"),
    ("We picked Postgres because of its JSON support.", "why did we decide for that database?"),
    ("The concert was cancelled due to the storm.", "why did the show not take place?"),
    ("The intern fixed the flaky test by seeding the random generator.", "how was the unstable check repaired?"),
    ("I usually get up at half past five.", "at what time do I wake?"),
    ("The old laptop goes to my niece.", "who gets my former computer?"),
    ("Customers complain that the search is slow.", "what are users unhappy about?"),
    ("There is a spare key under the flowerpot.", "where is the second key hidden?"),
    ("The backup is kept in two data centres.", "at how many sites is the copy stored?"),
    ("The surgeon said the operation went well.", "how was the procedure according to the doctor?"),
    ("Rotate the access tokens every ninety days.", "how often should secrets be renewed?"),
    ("My favourite dish is lentil soup.", "what do I like most to eat?"),
    ("The button does nothing when it is clicked on Safari.", "which browser has a problem with the control?"),
    ("We lost the game because our keeper was ill.", "why were we beaten in the match?"),
    ("The feature flag is off in production.", "is the toggle enabled for live users?"),
    ("She teaches mathematics at a high school.", "what is her job?"),
    (
        "The memory of the old machine is too small for the model.",
        "why can't the network be loaded on the former computer?",
    ),
    ("The train was so full that we had to stand.", "did we get a seat on the railway?"),
    ("The licence forbids selling the software.", "may we make money with the program?"),
    ("Dad wants a telescope for his birthday.", "what present does my father wish for?"),
    ("The cron job starts at midnight.", "at what hour is the scheduled task launched?"),
    ("We had to put our cat to sleep last week.", "how did our pet die?"),
    ("The function returns None if the file is missing.", "what comes back when there is no such document?"),
    ("The neighbours complained about the noise at the party.", "who was annoyed by our celebration?"),
    ("I left my umbrella in the taxi.", "what did I forget in the cab?"),
    ("Compression halves the size of the log files.", "how much space do we save by zipping?"),
    ("The mayor opened the new bridge.", "who inaugurated the crossing?"),
    ("The bug only shows up in the evening when traffic is high.", "under which load does the defect appear?"),
    ("My brother became a father in March.", "when was my nephew born?"),
    ("The designer insists on rounded corners.", "what shape do the edges have according to the UX person?"),
    ("It rained during our whole trip to Scotland.", "how was the weather on our holiday?"),
)
"""What was said, and what is asked."""


BY_A_MODEL = Path(__file__).with_name("queries_by_a_model.json")
"""By what it was told that a query is, what it wrote for each of the questions."""


def hidden(folder: Path, queries: Sequence[str]) -> dict[str, Any]:
    """One session of other people's turns with the sentences among them; the same each time."""
    files = sorted(folder.glob("*.json.gz"))
    others = list(chain.from_iterable(_turns(file) for file in files))
    drawn = random.Random(3)
    turns = [
        {"role": turn["role"], "content": (turn["content"] or "")[:LONGEST]} for turn in drawn.sample(others, TURNS)
    ]
    places = sorted(drawn.sample(range(TURNS), len(PAIRS)))
    for place, (said, _) in zip(places, PAIRS, strict=True):
        turns[place] = {"role": "user", "content": said}
    numbered = [
        {**turn, "turn_number": number, "created_at": "2026-01-01T10:00:00"} for number, turn in enumerate(turns, 1)
    ]
    asked = [
        {"qid": str(place), "session": "s", "query": query, "evidence": [place + 1], "category": "in other words"}
        for place, query in zip(places, queries, strict=True)
    ]
    return {"name": "other words", "sessions": {"s": numbered}, "queries": asked}


def _turns(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file) as packed:
        data = json.load(packed)
    return [turn for turns in data["sessions"].values() for turn in turns]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--misses", action="store_true", help="list the questions that were not answered")
    parser.add_argument("--by-a-model", action="store_true", help="and as a language model asks")
    parsed = parser.parse_args()
    asked = {"other words": [question for _, question in PAIRS]}
    if parsed.by_a_model:
        asked |= json.loads(BY_A_MODEL.read_text())
    for name, queries in asked.items():
        print(f"\n{name}")
        heading()
        asyncio.run(measure(hidden(parsed.folder, queries), misses=parsed.misses, alone=False))


if __name__ == "__main__":
    main()
