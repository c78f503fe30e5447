-- loom archive, version 5: an append changes fewer pages once more. A turn of words changes four in place of six, a
-- page of the file's growth included.

-- What is asked of an exchange is where it begins and how many tokens it has. That is known when it begins: one row an
-- exchange says it, in place of an index with one entry a turn. An exchange ends where the next one begins; the last
-- one with the session. It begins with the first turn that has a greater number than all before it.
CREATE TABLE exchanges (
    session_id TEXT NOT NULL REFERENCES cowork_sessions(id) ON DELETE CASCADE,
    exchange INTEGER NOT NULL,
    first_turn INTEGER NOT NULL,
    -- In all turns of the session before first_turn.
    tokens_before INTEGER NOT NULL,
    PRIMARY KEY (session_id, exchange)
) STRICT, WITHOUT ROWID;

-- The sum of its turns' token_count.
ALTER TABLE cowork_sessions ADD COLUMN turn_tokens INTEGER NOT NULL DEFAULT 0;

INSERT INTO exchanges
    SELECT session_id, reached, min(turn_number), min(tokens)
    FROM (
        SELECT
            session_id,
            turn_number,
            max(exchange) OVER so_far AS reached,
            sum(token_count) OVER so_far - token_count AS tokens
        FROM conversation_turns
        WHERE session_id IN (SELECT id FROM cowork_sessions)
        WINDOW so_far AS (PARTITION BY session_id ORDER BY turn_number)
    )
    GROUP BY session_id, reached;
UPDATE cowork_sessions SET
    turn_tokens = coalesce((SELECT sum(token_count) FROM conversation_turns WHERE session_id = cowork_sessions.id), 0),
    exchange_count = coalesce((SELECT max(exchange) FROM exchanges WHERE session_id = cowork_sessions.id), 0);

DROP INDEX turns_by_exchange;

-- No id of a turn is used again, not even after a purge of the newest turns: the full-text index tells by them what it
-- has. AUTOINCREMENT sees to that by writing a count with each turn; this is written by a purge alone, and each append
-- asks for the id that comes next.
CREATE TABLE turn_ids (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- The greatest one that was in use at the last purge.
    taken INTEGER NOT NULL
) STRICT;
INSERT INTO turn_ids SELECT 1, coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'conversation_turns';

CREATE VIEW next_turn (id) AS
    SELECT 1 + max((SELECT taken FROM turn_ids), coalesce((SELECT max(id) FROM conversation_turns), 0));

CREATE TRIGGER turn_ids_are_kept BEFORE DELETE ON conversation_turns
WHEN OLD.id > (SELECT taken FROM turn_ids)
BEGIN
    UPDATE turn_ids SET taken = (SELECT max(id) FROM conversation_turns);
END;

-- Of somebody who did not ask: a program of an earlier version that is still running.
CREATE TRIGGER turn_ids_only_grow AFTER INSERT ON conversation_turns
WHEN NEW.id <= (SELECT taken FROM turn_ids)
BEGIN
    SELECT RAISE(ABORT, 'the id of a turn is never used again');
END;

DROP TRIGGER turn_appended;
CREATE TRIGGER turn_appended AFTER INSERT ON conversation_turns
BEGIN
    INSERT INTO exchanges
        SELECT id, NEW.exchange, NEW.turn_number, turn_tokens FROM cowork_sessions
        WHERE id = NEW.session_id AND (turn_count = 0 OR exchange_count < NEW.exchange);
    UPDATE cowork_sessions SET
        turn_count = NEW.turn_number,
        exchange_count = max(exchange_count, NEW.exchange),
        turn_tokens = turn_tokens + NEW.token_count,
        last_active_at = max(last_active_at, NEW.created_at),
        input_tokens = input_tokens + CAST(coalesce(json_extract(NEW.usage, '$.input_tokens'), 0) AS INTEGER),
        output_tokens = output_tokens + CAST(coalesce(json_extract(NEW.usage, '$.output_tokens'), 0) AS INTEGER),
        cache_read_tokens = cache_read_tokens
            + CAST(coalesce(json_extract(NEW.usage, '$.cache_read_tokens'), 0) AS INTEGER),
        total_tokens = total_tokens + CAST(coalesce(json_extract(NEW.usage, '$.input_tokens'), 0) AS INTEGER)
            + CAST(coalesce(json_extract(NEW.usage, '$.output_tokens'), 0) AS INTEGER),
        cost_usd = cost_usd + coalesce(NEW.cost_usd, 0)
    WHERE id = NEW.session_id;
    DELETE FROM drafts WHERE session_id = NEW.session_id AND NEW.role = 'assistant';
END;
