"""The colour themes. Everything on the screen takes its colours from a theme's variables."""

from __future__ import annotations

from textual.theme import Theme

LOOM_DARK = Theme(
    name="loom-dark",
    primary="#7FB4CA",
    secondary="#957FB8",
    accent="#E6C384",
    warning="#E6A04E",
    error="#E46876",
    success="#98BB6C",
    foreground="#DCD7CA",
    background="#16161D",
    surface="#1F1F28",
    panel="#2A2A37",
    dark=True,
    variables={
        "footer-background": "#16161D",
        "footer-key-foreground": "#7FB4CA",
        "footer-description-foreground": "#8F8C82",
        "block-cursor-text-style": "none",
        "input-selection-background": "#7FB4CA 30%",
        "border": "#7FB4CA",
        "border-blurred": "#3A3A4A",
    },
)

LOOM_LIGHT = Theme(
    name="loom-light",
    primary="#2F6F8F",
    secondary="#6B4E9B",
    accent="#8F6200",
    warning="#A85B00",
    error="#B3263A",
    success="#3F7A1F",
    foreground="#24231F",
    background="#FAF8F1",
    surface="#F2EFE4",
    panel="#E6E2D3",
    dark=False,
    variables={
        "footer-background": "#FAF8F1",
        "footer-key-foreground": "#2F6F8F",
        "footer-description-foreground": "#6E6B60",
        "block-cursor-text-style": "none",
        "input-selection-background": "#2F6F8F 25%",
        "border": "#2F6F8F",
        "border-blurred": "#CFC9B6",
    },
)

THEMES: tuple[Theme, ...] = (LOOM_DARK, LOOM_LIGHT)
