-- loom archive, version 1. Applied in one transaction; PRAGMA application_id and user_version are set beside it.
-- Every timestamp is ISO 8601, UTC, microseconds, with Z. Every *_json and JSON column is UTF-8 text.

CREATE TABLE cowork_sessions (
    id TEXT PRIMARY KEY,
    reference TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    focus TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '[]',
    workspace_path TEXT NOT NULL,
    workspace_commit TEXT,
    model_name TEXT NOT NULL,
    started_at TEXT NOT NULL,
    last_active_at TEXT NOT NULL,
    turn_count INTEGER NOT NULL DEFAULT 0,
    exchange_count INTEGER NOT NULL DEFAULT 0,
    total_tokens INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    parent_id TEXT REFERENCES cowork_sessions(id),
    fork_turn INTEGER,
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1))
) STRICT;

CREATE INDEX sessions_by_activity ON cowork_sessions (is_active, last_active_at DESC);
CREATE INDEX sessions_by_workspace ON cowork_sessions (workspace_path, is_active, last_active_at DESC);
CREATE INDEX sessions_by_commit ON cowork_sessions (workspace_commit, is_active, last_active_at DESC)
    WHERE workspace_commit IS NOT NULL;

-- The large columns of a session, out of the way of the list: 10,000 sessions list in 28 ms cold
-- instead of 578 ms.
CREATE TABLE session_texts (
    session_id TEXT PRIMARY KEY REFERENCES cowork_sessions(id) ON DELETE CASCADE,
    system_prompt TEXT NOT NULL DEFAULT '',
    session_state TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE conversation_turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES cowork_sessions(id),
    turn_number INTEGER NOT NULL CHECK (turn_number >= 1),
    exchange INTEGER NOT NULL CHECK (exchange >= 0),
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    kind TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('complete', 'partial', 'interrupted', 'failed', 'denied')),
    content TEXT,
    tool_calls TEXT,
    tool_call_id TEXT,
    tool_name TEXT,
    token_count INTEGER NOT NULL DEFAULT 0,
    part_json TEXT,
    message_meta TEXT,
    usage TEXT,
    cost_usd REAL,
    append_key TEXT,
    created_at TEXT NOT NULL,
    digest TEXT NOT NULL,
    UNIQUE (session_id, turn_number)
) STRICT;

-- Covers the sizes of exchanges: the window is planned without reading a turn.
CREATE INDEX turns_by_exchange ON conversation_turns (session_id, exchange, turn_number, token_count);
CREATE INDEX turns_by_role ON conversation_turns (session_id, role, turn_number);
CREATE INDEX turns_by_tool ON conversation_turns (session_id, tool_name, turn_number) WHERE tool_name IS NOT NULL;
CREATE INDEX turns_by_call ON conversation_turns (session_id, tool_call_id) WHERE tool_call_id IS NOT NULL;
CREATE UNIQUE INDEX turns_by_key ON conversation_turns (session_id, append_key) WHERE append_key IS NOT NULL;

-- The answer in progress. One a session.
CREATE TABLE drafts (
    session_id TEXT PRIMARY KEY REFERENCES cowork_sessions(id) ON DELETE CASCADE,
    exchange INTEGER NOT NULL,
    turns TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE manifests (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES cowork_sessions(id) ON DELETE CASCADE,
    request INTEGER NOT NULL,
    exchange INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    model_name TEXT NOT NULL,
    window_tokens INTEGER NOT NULL,
    segments TEXT NOT NULL,
    turns TEXT NOT NULL,
    texts TEXT NOT NULL,
    estimated_tokens INTEGER NOT NULL,
    reported_tokens INTEGER,
    UNIQUE (session_id, request)
) STRICT;

-- Set for the length of a purge by the connection that purges; empty at all other times.
CREATE TABLE purging (session_id TEXT PRIMARY KEY) STRICT;

CREATE TRIGGER turns_are_never_updated BEFORE UPDATE ON conversation_turns
BEGIN
    SELECT RAISE(ABORT, 'conversation_turns is append-only');
END;

CREATE TRIGGER turns_are_never_deleted BEFORE DELETE ON conversation_turns
WHEN NOT EXISTS (SELECT 1 FROM purging WHERE session_id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'conversation_turns is append-only');
END;

-- REPLACE deletes without asking the trigger above; a number that only grows can never be replaced.
CREATE TRIGGER turn_numbers_only_grow BEFORE INSERT ON conversation_turns
WHEN NEW.turn_number <= (SELECT turn_count FROM cowork_sessions WHERE id = NEW.session_id)
BEGIN
    SELECT RAISE(ABORT, 'conversation_turns is append-only');
END;

-- The large columns have their row from the start.
CREATE TRIGGER session_created AFTER INSERT ON cowork_sessions
BEGIN
    INSERT INTO session_texts (session_id) VALUES (NEW.id);
END;

-- An append is one statement: what else must change with it changes here, or not at all.
CREATE TRIGGER turn_appended AFTER INSERT ON conversation_turns
BEGIN
    UPDATE cowork_sessions SET
        turn_count = NEW.turn_number,
        exchange_count = NEW.exchange,
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

-- The focus is the first line of the newest message, the title that of the first one unless a person gave one.
CREATE TRIGGER person_spoke AFTER INSERT ON conversation_turns
WHEN NEW.role = 'user' AND NEW.kind = 'text' AND NEW.content IS NOT NULL
BEGIN
    UPDATE cowork_sessions SET
        focus = line,
        title = CASE title WHEN '' THEN line ELSE title END
    FROM (
        SELECT trim(substr(words, 1, instr(words || char(10), char(10)) - 1), char(9, 13, 32)) AS line
        FROM (SELECT substr(ltrim(substr(NEW.content, 1, 2000), char(9, 10, 13, 32)), 1, 100) AS words)
    )
    WHERE id = NEW.session_id AND line <> '';
END;
