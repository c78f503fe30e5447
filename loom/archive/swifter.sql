-- loom archive, version 6: an append looks its session up less often. Behind a wait for the disk nothing of it is in the
-- processor's caches, and each look-up counts.

-- What refuses a number or an id now stands where the session's row is changed anyway: a number that does not grow
-- changes no session. That it is asked behind the insertion makes no difference to REPLACE: what is refused takes the
-- whole statement back.
DROP TRIGGER turn_numbers_only_grow;
DROP TRIGGER turn_ids_only_grow;
DROP TRIGGER turn_appended;
CREATE TRIGGER turn_appended AFTER INSERT ON conversation_turns
BEGIN
    SELECT RAISE(ABORT, 'the id of a turn is never used again') FROM turn_ids WHERE taken >= NEW.id;
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
    WHERE id = NEW.session_id AND turn_count < NEW.turn_number;
    SELECT RAISE(ABORT, 'conversation_turns is append-only') WHERE changes() = 0;
    DELETE FROM drafts WHERE session_id = NEW.session_id AND NEW.role = 'assistant';
END;

-- An exchange begins with the first turn of a session, and with each one that has a greater number than all before it.
CREATE TRIGGER exchange_began AFTER UPDATE OF turn_count ON cowork_sessions
WHEN NEW.turn_count > OLD.turn_count AND (NEW.exchange_count > OLD.exchange_count OR OLD.turn_count = 0)
BEGIN
    INSERT INTO exchanges VALUES (NEW.id, NEW.exchange_count, NEW.turn_count, OLD.turn_tokens);
END;

-- The session at the top of the list is known by its place in the index; its row is not read.
DROP TRIGGER session_was_active;
CREATE TRIGGER session_was_active AFTER UPDATE OF last_active_at ON cowork_sessions
WHEN NEW.last_active_at < NEW.listed_at
    OR NEW.rowid <> (SELECT rowid FROM cowork_sessions ORDER BY listed_at DESC, is_active DESC, rowid DESC LIMIT 1)
BEGIN
    UPDATE cowork_sessions SET listed_at = last_active_at
    WHERE id = (SELECT id FROM top_of_the_list) AND listed_at <> last_active_at;
    UPDATE cowork_sessions SET listed_at = last_active_at WHERE id = NEW.id AND listed_at <> last_active_at;
END;
