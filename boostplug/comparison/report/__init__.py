"""The report of a comparison: as text, and as one self-contained HTML file for those who decide.

Read `words` (the sentences), `text` (the table for a terminal, Markdown, LaTeX), then `page`, which puts the `sections`
of the HTML file in order. `charts` draws. `page.css` is the style. `page.js` lets readers sort, filter, choose and
copy; without the script all content is readable.
"""
