-- loom archive, version 3: an append changes fewer pages, and each page that it changes is written to the disk before
-- the append returns. A turn of words changes six pages in place of nine.

-- What is looked for by role is what asked for a tool, and what loom itself said: most turns are neither.
DROP INDEX turns_by_role;
CREATE INDEX turns_that_ask ON conversation_turns (session_id, turn_number) WHERE tool_calls IS NOT NULL;
CREATE INDEX turns_by_loom ON conversation_turns (session_id, turn_number) WHERE role = 'system';

-- The list's indexes go by the minute of last_active_at: they change once a minute and not with every turn. What was
-- active in one minute is sorted when it is read.
ALTER TABLE cowork_sessions ADD COLUMN active_minute TEXT NOT NULL DEFAULT '';
UPDATE cowork_sessions SET active_minute = substr(last_active_at, 1, 16);

DROP INDEX sessions_by_activity;
DROP INDEX sessions_by_workspace;
DROP INDEX sessions_by_commit;
CREATE INDEX sessions_by_activity ON cowork_sessions (is_active, active_minute DESC);
CREATE INDEX sessions_by_workspace ON cowork_sessions (workspace_path, is_active, active_minute DESC);
CREATE INDEX sessions_by_commit ON cowork_sessions (workspace_commit, is_active, active_minute DESC)
    WHERE workspace_commit IS NOT NULL;

CREATE TRIGGER session_made_active AFTER INSERT ON cowork_sessions
BEGIN
    UPDATE cowork_sessions SET active_minute = substr(last_active_at, 1, 16) WHERE id = NEW.id;
END;

CREATE TRIGGER session_was_active AFTER UPDATE OF last_active_at ON cowork_sessions
WHEN NEW.active_minute <> substr(NEW.last_active_at, 1, 16)
BEGIN
    UPDATE cowork_sessions SET active_minute = substr(last_active_at, 1, 16) WHERE id = NEW.id;
END;
