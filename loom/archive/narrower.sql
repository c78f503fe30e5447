-- loom archive, version 3: an append changes fewer pages, and each page that it changes is written to the disk before
-- the append returns. A turn of words changes six pages in place of nine.

-- What is looked for by role is what asked for a tool, and what loom itself said: most turns are neither.
DROP INDEX turns_by_role;
CREATE INDEX turns_that_ask ON conversation_turns (session_id, turn_number) WHERE tool_calls IS NOT NULL;
CREATE INDEX turns_by_loom ON conversation_turns (session_id, turn_number) WHERE role = 'system';

-- The list goes by listed_at, so that its indexes stay as they are while one session goes on. It is last_active_at, but
-- for the one session at the top of the list, which it need not follow: being active can take that one no higher. Before
-- any other session changes its place, the one at the top is brought up to date, so that both columns give one order.
ALTER TABLE cowork_sessions ADD COLUMN listed_at TEXT NOT NULL DEFAULT '';
UPDATE cowork_sessions SET listed_at = last_active_at;

DROP INDEX sessions_by_activity;
DROP INDEX sessions_by_workspace;
DROP INDEX sessions_by_commit;
CREATE INDEX sessions_by_activity ON cowork_sessions (listed_at, is_active);
CREATE INDEX sessions_by_workspace ON cowork_sessions (workspace_path, listed_at, is_active);
CREATE INDEX sessions_by_commit ON cowork_sessions (workspace_commit, listed_at, is_active)
    WHERE workspace_commit IS NOT NULL;

CREATE VIEW top_of_the_list AS
    SELECT id FROM cowork_sessions ORDER BY listed_at DESC, is_active DESC, rowid DESC LIMIT 1;

CREATE TRIGGER session_comes BEFORE INSERT ON cowork_sessions
BEGIN
    UPDATE cowork_sessions SET listed_at = last_active_at
    WHERE id = (SELECT id FROM top_of_the_list) AND listed_at <> last_active_at;
END;

CREATE TRIGGER session_came AFTER INSERT ON cowork_sessions
BEGIN
    UPDATE cowork_sessions SET listed_at = last_active_at WHERE id = NEW.id;
END;

CREATE TRIGGER session_was_active AFTER UPDATE OF last_active_at ON cowork_sessions
WHEN NEW.id <> (SELECT id FROM top_of_the_list) OR NEW.last_active_at < NEW.listed_at
BEGIN
    UPDATE cowork_sessions SET listed_at = last_active_at
    WHERE id = (SELECT id FROM top_of_the_list) AND listed_at <> last_active_at;
    UPDATE cowork_sessions SET listed_at = last_active_at WHERE id = NEW.id AND listed_at <> last_active_at;
END;
