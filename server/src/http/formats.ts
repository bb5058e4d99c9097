import { isTitle } from '../documents/title.ts';
import { isCareUnitDateTime, isDateTime, isLocalDateTime } from '../time/date-times.ts';

/** String formats, for both validation and serialisation. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  /** For requests. Differs from `date-time`, which requires an offset in OpenAPI. */
  'date-time-or-local': isDateTime,
  'local-date-time': isLocalDateTime,
  'care-unit-date-time': isCareUnitDateTime,
  /** Unicode that any database can store: no NUL and no lone surrogate. */
  'document-title': isTitle,
  text: isText,
  /** `text` on one line, without control characters. */
  line: (text) => isText(text) && !/\p{Cc}/u.test(text),
  /** `text` that is not blank. */
  'text-with-content': (text) => isText(text) && /\S/.test(text),
};

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
