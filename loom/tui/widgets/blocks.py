"""Which widget draws which turn."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from loom.archive.records import Turn, TurnKind
from loom.context.edges import left_turns, summed_up
from loom.cowork.failures import failure_in
from loom.text import plural, show_line
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.command_card import CommandCard
from loom.tui.widgets.fold import Fold, Thinking
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.message import AssistantMessage, TurnBlock, UserMessage
from loom.tui.widgets.receipt import Receipt
from loom.tui.widgets.tool_card import ToolCard

Block = Widget


def blocks_for(turns: Sequence[Turn]) -> list[Block]:
    """The widgets of stored turns, ascending; a call and its result are one card."""
    blocks: list[Block] = []
    cards: dict[str, ToolCard] = {}
    for turn in turns:
        if turn.kind is TurnKind.TOOL_CALL:
            card = card_of(turn)
            cards[card.call_id] = card
            blocks.append(card)
        elif turn.kind is TurnKind.TOOL_RESULT and (turn.tool_call_id or "") in cards:
            cards[turn.tool_call_id or ""].finish(turn, None)
        else:
            block = block_of(turn)
            if isinstance(block, ToolCard):
                cards[block.call_id] = block
            last = blocks[-1] if blocks else None
            joined = isinstance(block, ErrorBlock) and isinstance(last, ErrorBlock) and last.joins(block)
            if block is not None and not joined:
                blocks.append(block)
    return blocks


def card_of(turn: Turn) -> ToolCard:
    """The card of a stored call, the model's or the person's."""
    call = turn.tool_calls[0] if turn.tool_calls else {}
    if command := turn.person_command:
        return CommandCard(str(call.get("id", "")), command, turn.turn_number)
    arguments = call.get("arguments") or {}
    return ToolCard(
        str(call.get("id", "")),
        str(call.get("name", "tool")),
        arguments if isinstance(arguments, dict | str) else {},
        turn.turn_number,
    )


def block_of(turn: Turn) -> Block | None:
    """The widget of one turn that is not a call; None when there is nothing to see."""
    text = turn.content or ""
    number = turn.turn_number
    match turn.kind:
        case TurnKind.TOOL_RESULT:
            # Its call lies on an older page.
            return ToolCard(turn.tool_call_id or "", turn.tool_name or "tool", {}, number, result=turn)
        case TurnKind.THINKING:
            return Thinking(text, number) if text else None
        case TurnKind.SUMMARY:
            return Fold(_summary_title(turn), text, number)
        case TurnKind.RECEIPT | TurnKind.NOTE:
            return _own_word(turn, text)
        case TurnKind.FILE:
            return ReceiptLine(f"T{number}: a file, {plural(len(turn.part_json or ''), 'character')} stored", number)
        case _:
            return _words(turn, text)


def _own_word(turn: Turn, text: str) -> Block:
    """What loom itself says there."""
    if failure := failure_in(turn):
        return ErrorBlock(failure, turn.turn_number)
    ranges = left_turns(turn)
    return Receipt(text, ranges) if ranges else ReceiptLine(text, turn.turn_number)


def _summary_title(turn: Turn) -> str:
    """`Summary of the turns up to T39 · 12,300 → 812 tokens · $0.0041`."""
    to_turn, tokens = summed_up(turn)
    said = [f"Summary of the turns up to T{to_turn}" if to_turn else "Summary of what came before"]
    if tokens:
        said.append(f"{tokens:,} → {turn.token_count:,} tokens")
    if turn.cost_usd:
        said.append(f"${turn.cost_usd:.4f}")
    return " · ".join(said)


def _words(turn: Turn, text: str) -> Block | None:
    if turn.role == "user":
        return UserMessage(text, turn.turn_number)
    if turn.role == "assistant":
        return AssistantMessage(text, turn.turn_number, turn.status) if text else None
    return Fold(f"System: {show_line(text, 60)}", text, turn.turn_number) if text else None


def settle(blocks: Sequence[Block]) -> None:
    """Nothing runs: a call without a result was interrupted."""
    for block in blocks:
        if isinstance(block, ToolCard) and block.open_ended:
            block.set_state(CardState.INTERRUPTED)


def block_turn(block: Widget) -> int:
    """The turn that a block draws, of several the newest; 0 when it draws none."""
    return (block.turn_number or 0) if isinstance(block, TurnBlock | ToolCard | Fold | ReceiptLine | ErrorBlock) else 0


def first_turn(block: Widget) -> int:
    """The oldest turn that a block draws; 0 when it draws none."""
    return (block.first_turn or 0) if isinstance(block, ErrorBlock) else block_turn(block)
