"""One conversation: prompt, model, tools, archive; and the events that a front end draws."""
