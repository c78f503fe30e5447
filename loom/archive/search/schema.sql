-- The full-text index: derived from conversation_turns and from nothing else. Dropping every table here loses no
-- turn; the indexer makes them again. Applied after loom/archive/schema.sql, and again whenever a table is missing.
--
-- A place is one number for one turn: search_sessions.key * 2^26 + turn_number. A session is a range of places, and
-- the turn beside a turn is the place beside a place, so neither needs a join.

CREATE TABLE IF NOT EXISTS search_progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    -- Every turn with conversation_turns.id <= watermark is in the index; every other is found by scanning.
    watermark INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS search_sessions (
    key INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    turns INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What ranking needs of a turn beside its words: when (seconds since 1970), how long (characters), and marks.py.
CREATE TABLE IF NOT EXISTS search_marks (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    marks INTEGER NOT NULL
) STRICT;

-- What the words of the person and of the model mean (meaning.py, sketches.py), many turns of a session in a row.
CREATE TABLE IF NOT EXISTS search_sketches (
    place INTEGER PRIMARY KEY, -- of the first of them
    numbers BLOB NOT NULL, -- of each, in its session: four bytes, the lowest first
    sketches BLOB NOT NULL -- a bit for each coordinate of its sum; none is set where no word is known
) STRICT;

-- The columns hold terms made by words.py, separated by spaces; every other character belongs to a term. Those of
-- `parts` begin with `~` (document.py says why).
CREATE VIRTUAL TABLE IF NOT EXISTS search_terms USING fts5(
    words, parts, names, facets,
    content='', detail=column, columnsize=0,
    tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
-- Two segments of a size are enough to be merged (merging.py).
INSERT INTO search_terms (search_terms, rank) VALUES ('usermerge', 2);

-- Each identifier, path or code once, whatever the number of turns that have it and of lines that it is cited at:
-- substrings and mistyped names are looked for here, which is a hundredth of a trigram index over the text.
CREATE TABLE IF NOT EXISTS search_names (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE VIRTUAL TABLE IF NOT EXISTS search_name_pieces USING fts5(
    name, content='', detail=none, columnsize=0, tokenize='trigram'
);
INSERT INTO search_name_pieces (search_name_pieces, rank) VALUES ('usermerge', 2);
