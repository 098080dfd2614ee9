"""The report of a comparison: as text, and as one HTML file to be sent to whoever decides, which fetches nothing.

Read `words` (the sentences), `text` (the table for a terminal, Markdown, LaTeX), then `page`: it puts the `sections` of
the HTML file in order. `charts` draws. `page.css` says how it looks, and `page.js` adds what a reader may do: sort,
filter, choose, copy; without the script all is there to be read.
"""
