"""The sections of the report's page: each is a function of a `View` that returns its content, or None for none.

In the order of the page: `verdict`, `forest`, `trade_off`, `curves`, `outcomes`, `reliability`, `positions`, `trees`,
`setup`. Pieces that several sections share stand in `boostplug.comparison.report.view`.
"""
