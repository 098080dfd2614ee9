"""The sections of the report's page: functions of a `View` that return content, or None.

In the order of the page: `verdict`, `forest`, `curves`, `outcomes`, `reliability`, `positions`, `trees`,
`setup`. `boostplug.comparison.report.view` has elements that several sections share.
"""
