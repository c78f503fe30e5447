"""What the model is sent, and which number says how full the window is."""

from __future__ import annotations

from pydantic_ai.messages import ModelRequest, TextPart, ThinkingPart, UserPromptPart

from loom.config import Settings
from loom.context.budget import budget_for
from loom.context.usage import Segment
from tests.context.windows import a_window, counted, text_of
from tests.support.window_rows import Rows


class TestWhatIsSent:
    def test_is_everything_while_there_is_room(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.exchange_with_output("read a.py", "print()", path="a.py", action="read"))
        window.add(rows.ask("and now?"))
        assembly = window.assemble()
        kinds = [[part.part_kind for part in message.parts] for message in assembly.messages]
        assert kinds == [["user-prompt"], ["tool-call"], ["tool-return"], ["text"], ["user-prompt"]]
        assert assembly.turns == ((1, 5),)
        assert assembly.receipt is None and assembly.notice is None and not assembly.texts

    def test_includes_the_exchange_in_progress_as_it_was_stored(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        window.add(rows.call("c1"))
        window.add(rows.result("c1", "the result"))
        newest = window.assemble().messages[-1]
        assert isinstance(newest, ModelRequest) and "the result" in text_of([newest])

    def test_takes_the_instructions_of_the_request_in_progress(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        live = ModelRequest(parts=[UserPromptPart("go")], instructions="state: now")
        newest = window.assemble([live]).messages[-1]
        assert isinstance(newest, ModelRequest) and newest.instructions == "state: now"

    def test_carries_the_hint_beside_the_newest_message_only(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("what about that file?"))
        window.set_hint("Probably meant: T12")
        assembly = window.assemble()
        assert "Probably meant: T12" in text_of(assembly.messages[-1:])
        assert assembly.segments[Segment.HINT] > 0 and assembly.texts["hint"] == "Probably meant: T12"
        window.add(rows.answer("this one"))
        window.add(rows.ask("thanks"))
        assert "Probably" not in text_of(window.assemble().messages)

    def test_is_valid_after_an_exchange_that_broke_off(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        window.add(rows.call("c1"))
        window.add(rows.ask("hello?"))
        newest = window.assemble().messages[-1]
        assert [part.part_kind for part in newest.parts] == ["tool-return", "user-prompt"]

    def test_ends_with_what_is_asked_when_nothing_but_a_thought_came_to_it(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        for signature in (None, "s"):
            window.add(rows.say(ThinkingPart("hm", signature=signature, provider_name="p"), TextPart(" ", id="t")))
        live = ModelRequest(parts=[UserPromptPart("go")], instructions="state: now")
        [newest] = window.assemble([live]).messages
        assert isinstance(newest, ModelRequest) and newest.instructions == "state: now"
        window.add(rows.say(ThinkingPart("hm"), TextPart("Done.")))
        window.add(rows.ask("and now?"))
        kinds = [[part.part_kind for part in message.parts] for message in window.assemble().messages]
        assert kinds[0] == ["user-prompt"] and kinds[-1] == ["user-prompt"] and "thinking" in kinds[1]

    def test_of_nothing_is_nothing(self) -> None:
        assert a_window().assemble().messages == []


class TestTheGauge:
    def test_shows_the_floor_before_the_first_message(self) -> None:
        window = a_window()
        window.set_state("focus: x")
        usage = window.usage()
        assert usage.segments[Segment.TOOLS] == 100 and usage.used == sum(usage.segments.values()) > 200
        assert usage.estimated

    def test_counts_every_token_that_is_sent(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.exchange_with_output("read", "x" * 500))
        window.add(rows.ask("next"))
        window.set_hint("hint hint")
        assembly = window.assemble()
        assert assembly.tokens == counted(assembly, 200) == sum(assembly.segments.values()) == window.usage().used

    def test_is_the_providers_number_until_something_is_added(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("x" * 4_000))
        ours = window.assemble().tokens
        window.report(ours * 13 // 10)
        usage = window.usage()
        assert usage.used == ours * 13 // 10 and not usage.estimated
        window.add(rows.answer("y" * 400))
        assert window.usage().estimated and window.usage().used > usage.used + 100

    def test_is_the_number_that_triggers(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("x" * 20_000))
        window.add(rows.answer("done"))
        window.assemble()
        window.add(rows.ask("y" * 4_000))
        assert window.usage().used < window.usage().high_water
        window.report(int(window.usage().used * 1.6))
        used = window.usage()
        assert used.used > used.high_water
        assert window.assemble().receipt is not None

    def test_ignores_a_report_that_cannot_be_of_this_request(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("x" * 4_000))
        ours = window.assemble().tokens
        for report in (0, 12, ours * 40):
            window.report(report)
            assert window.usage().used == ours

    def test_after_an_overflow_the_next_request_is_smaller(self) -> None:
        rows, window = Rows(), a_window(100_000)
        for number in range(20):
            window.add(rows.ask(f"{number} " + "x" * 4_000))
            window.add(rows.answer("ok"))
        window.add(rows.ask("last"))
        before = window.assemble().tokens
        window.overflowed()
        after = window.assemble()
        assert after.tokens < before * 0.8 and after.receipt and window.usage().window_assumed
        window.overflowed(8_192)
        assert window.assemble().tokens < 8_192


def test_a_small_window_keeps_no_more_than_a_quarter_for_the_answer() -> None:
    assert budget_for(Settings(), 8_192).reserve == 2_048
    assert budget_for(Settings(), 200_000).reserve == 8_000
