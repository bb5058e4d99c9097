/** Control characters, line separators, and marks that reverse the direction of the text that follows. */
const invisible = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]/u;
/** An absolute path, a drive, a backslash, or a segment `.` or `..`. */
const path = /^~?\/|^[A-Za-z]:(\/|$)|\\|(^|\/)\.{1,2}(\/|$)/;

/** Whether a text can be the title of a document: one visible line that is not a path. */
export function isTitle(text: string): boolean {
  return text.isWellFormed() && text.trim() !== '' && !invisible.test(text) && !path.test(text);
}
