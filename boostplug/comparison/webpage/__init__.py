"""A comparison as one HTML file, to be sent to whoever decides: nothing in it is fetched from anywhere.

`markup` escapes, `scale` places, `charts` and `tables` draw; each section is a function of a `View`, which returns its
content, or None where there is nothing to show; `page` puts them in order. `page.css` says how it looks, and `page.js`
adds what a reader may do: sort, filter, choose, copy. Without the script all is there to be read.
"""

from boostplug.comparison.webpage.page import page

__all__ = ["page"]
