"""The report of a comparison: as text, and as one self-contained HTML file for those who decide.

It reads `CompareResult.document` and nothing else. Read `words` (the sentences), `table` (one DataFrame for a terminal,
for Markdown and for the page), then `page`, which fills the template `page.html`. `picture` draws the first screen by
matplotlib.
"""
