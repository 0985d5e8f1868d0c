"""Every word a result is told in: `say(key, language, **parameters)` over `texts/LANGUAGE/*.json`.

Results hold keys and numbers; what they say in a language is made here, when somebody wants to read it. A key is
`group.name`, the group being the file that holds the text. A text is a template; the kind of a number stands behind
its parameter, `{share:percent}`, and `numbers` knows how each kind is written. A list is joined as the language does
it, a `Note` is told in its place, and `{n:document|documents}` counts.

This package stands at the bottom, because alerts, results in a notebook and reports all speak, and none of them may
import another. A further language is one more folder.
"""

from rankgauge.words.say import LANGUAGES, Language, Note, check_language, group, has_text, listed, say, tell, template

__all__ = ["LANGUAGES", "Language", "Note", "check_language", "group", "has_text", "listed", "say", "tell", "template"]
