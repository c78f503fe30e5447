"""The histories of other agents in a home folder, made after the shapes that they are known to have. In each, the same
talk: a question, a thought, a call and its result, an answer; then another question and its answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.interchange import test_claude_code as claude_code
from tests.interchange import test_codex as codex

WHEN = 1_772_359_200
"""2026-03-01T10:00:00Z"""


def _lines(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return path


def _json(path: Path, made: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made))
    return path


def _database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    for table, rows in tables.items():
        columns = list(dict.fromkeys(name for row in rows for name in row))
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        for row in rows:
            values = [json.dumps(v) if isinstance(v, dict | list) else v for v in map(row.get, columns)]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", values)
    connection.commit()
    connection.close()
    return path


def claude_code_home(home: Path, folder: Path) -> Path:
    slug = "".join(c if c.isalnum() else "-" for c in str(folder))
    talk = [{**line, "cwd": str(folder)} for line in claude_code.TALK]
    return _lines(home / ".claude" / "projects" / slug / f"{claude_code.SESSION}.jsonl", *talk)


def codex_home(home: Path, folder: Path) -> Path:
    head = codex.line("session_meta", id=codex.SESSION, cwd=str(folder))
    _lines(home / ".codex" / "session_index.jsonl", {"id": codex.SESSION, "thread_name": "The named talk"})
    day = home / ".codex" / "sessions" / "2026" / "03" / "01"
    return _lines(day / f"rollout-2026-03-01T10-00-00-{codex.SESSION}.jsonl", head, *codex.TALK[1:])


def gemini_home(home: Path, folder: Path) -> Path:
    _json(home / ".gemini" / "projects.json", {"projects": {str(folder): "work"}})

    def line(key: str, kind: str, content: object, **more: object) -> dict[str, object]:
        return {"id": key, "timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "content": content, **more}

    response = [{"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "a.py"}}}]
    call = {"id": "c1", "name": "ls", "args": {"path": "."}, "status": "success", "result": response}
    thoughts = [{"subject": "", "description": "I look."}]
    tokens = {"input": 10, "output": 3, "cached": 4}
    name = "session-2026-03-01T10-00-0b7e51a2.jsonl"
    return _lines(
        home / ".gemini" / "tmp" / "work" / "chats" / name,
        {"sessionId": "0b7e51a2-3c44-4f0e-9a51-2d6c8a4be0a1", "projectHash": "x", "startTime": "2026-03-01T10:00:00Z"},
        line("m1", "user", [{"text": "What is here?"}]),
        line("m2", "gemini", "", thoughts=thoughts, toolCalls=[{**call, "status": "executing", "result": None}]),
        line("m2", "gemini", "", thoughts=thoughts, toolCalls=[call], tokens=tokens, model="gemini-x"),
        line("m3", "gemini", "One file."),
        line("m4", "user", "taken back"),
        {"$rewindTo": "m4"},
        {"$set": {"messages": []}},
        line("m5", "user", "And now?"),
        line("m6", "gemini", "Nothing."),
    )


def opencode_home(home: Path, folder: Path) -> Path:
    messages: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []

    def add(role: str, *made: dict[str, Any]) -> None:
        key = f"msg_{len(messages):03}"
        more = {"modelID": "m-x", "providerID": "openai", "tokens": {"input": 9, "output": 3}} if role != "user" else {}
        data = {"role": role, "time": {"created": WHEN * 1000}, **more}
        messages.append({"id": key, "session_id": "ses_1", "time_created": WHEN * 1000 + len(messages), "data": data})
        for part in made:
            key_of_part = f"prt_{len(parts):03}"
            parts.append({"id": key_of_part, "message_id": key, "session_id": "ses_1", "data": part})

    def text(words: str, **more: object) -> dict[str, Any]:
        return {"type": "text", "text": words, **more}

    state = {"status": "completed", "input": {"path": "."}, "output": "a.py", "time": {"compacted": WHEN * 1000}}
    tool = {"type": "tool", "tool": "ls", "callID": "c1", "state": state}
    add("user", text("What is here?"), text("as of today", synthetic=True))
    add("assistant", {"type": "step-start"}, {"type": "reasoning", "text": "I look."}, tool, text("One file."))
    add("user", text("And now?"))
    add("assistant", text("Nothing."))
    head = {"id": "ses_1", "title": "Looking around", "directory": str(folder), "parent_id": None}
    times = {"time_created": WHEN * 1000, "time_updated": WHEN * 1000}
    child = {**head, **times, "id": "ses_2", "title": "A child", "parent_id": "ses_1"}
    messages.append({"id": "msg_100", "session_id": "ses_2", "time_created": 1, "data": {"role": "user"}})
    parts.append({"id": "prt_100", "message_id": "msg_100", "session_id": "ses_2", "data": text("Look there.")})
    tables = {"session": [{**head, **times}, child], "message": messages, "part": parts}
    return _database(home / ".local" / "share" / "opencode" / "opencode.db", tables)


def opencode_files(home: Path, folder: Path) -> Path:
    storage = home / ".local" / "share" / "opencode" / "storage"
    for number, (role, words) in enumerate([("user", "What is here?"), ("assistant", "One file.")]):
        data = {"role": role, "time": {"created": WHEN * 1000}}
        _json(storage / "message" / "ses_9" / f"msg_{number}.json", {"id": f"msg_{number}", **data})
        _json(storage / "part" / f"msg_{number}" / "prt_0.json", {"type": "text", "text": words})
    head = {"id": "ses_9", "title": "An old one", "directory": str(folder), "time": {"created": WHEN * 1000}}
    return _json(storage / "session" / "project" / "ses_9.json", head)


def crush_home(home: Path, folder: Path) -> Path:
    def message(number: int, role: str, *parts: tuple[str, dict[str, object]]) -> dict[str, object]:
        made = [{"type": kind, "data": data} for kind, data in parts]
        head = {"id": f"m{number}", "session_id": "s1", "role": role, "created_at": WHEN + number}
        return {**head, "parts": made, "model": "m-x", "provider": "openai"}

    call = {"id": "c1", "name": "ls", "input": '{"path": "."}', "finished": True}
    result = {"tool_call_id": "c1", "name": "ls", "content": "a.py", "is_error": False}
    messages = [
        message(0, "user", ("text", {"text": "What is here?"})),
        message(1, "assistant", ("reasoning", {"thinking": "I look."}), ("tool_call", call), ("finish", {})),
        message(2, "tool", ("tool_result", result)),
        message(3, "assistant", ("text", {"text": "One file."})),
        message(4, "user", ("text", {"text": "And now?"}), ("binary", {})),
        message(5, "assistant", ("text", {"text": "Nothing."})),
    ]
    head = {"id": "s1", "title": "Looking around", "parent_session_id": None, "created_at": WHEN, "message_count": 6}
    titling = {**head, "id": "title-s1", "parent_session_id": "s1"}
    (home / ".local" / "share" / "crush").mkdir(parents=True, exist_ok=True)
    projects = {"projects": [{"path": str(folder), "data_dir": str(folder / ".crush")}]}
    _json(home / ".local" / "share" / "crush" / "projects.json", projects)
    return _database(folder / ".crush" / "crush.db", {"sessions": [head, titling], "messages": messages})


def goose_home(home: Path, folder: Path) -> Path:
    def message(number: int, role: str, *parts: dict[str, object], shown: bool = True) -> dict[str, object]:
        seen = {"userVisible": shown, "agentVisible": True}
        head = {"id": number, "session_id": "20260301_1", "role": role, "created_timestamp": WHEN + number}
        return {**head, "content_json": list(parts), "metadata_json": seen}

    def text(words: str) -> dict[str, object]:
        return {"type": "text", "text": words}

    asked = {"status": "success", "value": {"name": "ls", "arguments": {"path": "."}}}
    answer = {"status": "success", "value": {"content": [text("a.py")], "isError": False}}
    messages = [
        message(1, "user", text("What is here?")),
        message(2, "assistant", {"type": "thinking", "thinking": "I look."}),
        message(3, "assistant", {"type": "toolRequest", "id": "c1", "toolCall": asked}),
        message(4, "user", {"type": "toolResponse", "id": "c1", "toolResult": answer}),
        message(5, "assistant", text("One file.")),
        message(6, "user", text("summary for the model"), shown=False),
        message(7, "user", text("And now?")),
        message(8, "assistant", text("Nothing.")),
    ]
    head = {"id": "20260301_1", "description": "Looking around", "working_dir": str(folder)}
    model = {"provider_name": "openai", "model_config_json": {"model_name": "m-x"}}
    times = {"created_at": "2026-03-01 10:00:00", "updated_at": "2026-03-01 10:00:00"}
    tables = {"sessions": [{**head, **model, **times}], "messages": messages}
    return _database(home / ".local" / "share" / "goose" / "sessions" / "sessions.db", tables)


def kimi_home(home: Path, folder: Path) -> Path:
    _json(home / ".kimi" / "kimi.json", {"work_dirs": [{"path": str(folder), "kaos": "local"}]})

    def line(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": float(WHEN), "message": {"type": kind, "payload": payload}}

    digest = hashlib.md5(str(folder).encode(), usedforsecurity=False).hexdigest()
    session = home / ".kimi" / "sessions" / digest / "0b7e51a2-3c44-4f0e-9a51-2d6c8a4be0c1"
    _lines(
        session / "wire.jsonl",
        {"type": "metadata", "protocol_version": "1.1"},
        line("TurnBegin", user_input=[{"type": "text", "text": "What is here?"}]),
        line("StepBegin", n=1),
        line("ContentPart", type="think", think="I "),
        line("ContentPart", type="think", think="look."),
        line("ToolCall", type="function", id="c1", function={"name": "ls", "arguments": '{"path"'}),
        line("ToolCallPart", arguments_part=': "."}'),
        line("ToolResult", tool_call_id="c1", return_value={"is_error": False, "output": "a.py"}),
        line("ContentPart", type="text", text="One file."),
        line("TurnBegin", user_input="And now?"),
        line("ContentPart", type="text", text="Nothing."),
    )
    _lines(session / "context.jsonl", {"role": "user", "content": "What is here?"})
    _json(session / "state.json", {"custom_title": "Looking around"})
    return session


def kimi_context(home: Path, folder: Path) -> Path:
    """Without a wire, and compacted once."""
    session = home / ".kimi" / "sessions" / "digest" / "0b7e51a2-3c44-4f0e-9a51-2d6c8a4be0c2"
    first = [{"role": "_system_prompt", "content": "Obey."}, {"role": "user", "content": "What is here?"}]
    checkpoint = {"role": "user", "content": [{"type": "text", "text": "<system>CHECKPOINT 1</system>"}]}
    _lines(session / "context_1.jsonl", *first, checkpoint, {"role": "assistant", "content": "One file."})
    _lines(session / "context.jsonl", *first, {"role": "user", "content": "And now?"})
    return session


def vibe_home(home: Path, folder: Path) -> Path:
    """A session that was compacted; the older folder is gone on with in the newer one."""
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
    talk = [
        {"role": "system", "content": "Obey."},
        {"role": "user", "content": "What is here?"},
        {"role": "assistant", "content": "", "reasoning_content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "ls", "content": "a.py"},
        {"role": "assistant", "content": "One file."},
    ]
    sessions = home / ".vibe" / "logs" / "session"
    older, newer = sessions / "session_20260301_100000_0b7e51a2", sessions / "session_20260301_110000_1b7e51a2"
    place = {"environment": {"working_directory": str(folder)}, "start_time": "2026-03-01T10:00:00Z"}
    one = "0b7e51a2-3c44-4f0e-9a51-2d6c8a4be0d1"
    _json(older / "meta.json", {"session_id": one, **place})
    _lines(older / "messages.jsonl", *talk)
    more = {"session_id": f"1{one[1:]}", "parent_session_id": one, "title": "Looking around"}
    _json(newer / "meta.json", {**place, **more})
    summary = {"role": "user", "content": "They looked.", "injected": True}
    rest = [{"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Nothing."}]
    _lines(newer / "messages.jsonl", talk[0], summary, *rest)
    with (newer / "messages.jsonl").open("a") as file:
        file.write('{"role": "user", "cont')
    return newer


def vibe_rewound(home: Path, folder: Path) -> Path:
    """A session of which the last exchange was taken back."""
    newer = vibe_home(home, folder)
    older = newer.parent / "session_20260301_100000_0b7e51a2"
    talk = [json.loads(line) for line in (older / "messages.jsonl").read_text().splitlines()]
    _lines(older / "messages.jsonl", *talk, {"role": "user", "content": "taken back"})
    rest = [{"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Nothing."}]
    _lines(newer / "messages.jsonl", *talk, *rest)
    return newer


def aider_home(home: Path, folder: Path) -> Path:
    file = folder / ".aider.chat.history.md"
    begin = "\n# aider chat started at 2026-03-01 10:00:00\n\n"
    talk = "> Aider v0.86  \n> Main model: m-x\n\n#### What is here?  \n#### Look.  \n\nOne file.\n\n> a.py  \n\n"
    file.write_text(f"{begin}> Aider v0.86  \n{begin}{talk}#### And now?  \n\n# Nothing\n\n#### `x`  \n\nNothing.\n")
    return file


def gptsh_home(home: Path, folder: Path) -> Path:
    from tests.interchange.test_other_agents import GPTSH

    return _json(home / ".local" / "state" / "gptsh" / "sessions" / "20251027-091530-7x2m.json", GPTSH)


def pydantic_deep_home(home: Path, folder: Path) -> Path:
    asked = {"part_kind": "user-prompt", "content": "What is here?", "timestamp": "2026-03-01T10:00:00Z"}
    talk = [
        {"kind": "request", "parts": [asked]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "One."}]},
    ]
    return _json(folder / ".pydantic-deep" / "sessions" / "k3f9" / "messages.json", talk)
