import { isTitle } from '../documents/title.ts';
import { isCareUnitDateTime, isDateTime, isLocalDateTime } from '../time/date-times.ts';

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const emailAddress = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`);

/** String formats, for both validation and serialisation. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  /** For requests. Differs from `date-time`, which requires an offset in OpenAPI. */
  'date-time-or-local': isDateTime,
  /** RFC 3339, full-date. */
  date: (text) => isLocalDateTime(`${text}T00:00:00`),
  'local-date-time': isLocalDateTime,
  'care-unit-date-time': isCareUnitDateTime,
  /** Unicode that any database can store: no NUL and no lone surrogate. */
  'document-title': isTitle,
  text: isText,
  /** `text` on one line, without control characters. */
  line: (text) => isText(text) && !/\p{Cc}/u.test(text),
  /** `line` that is not blank. */
  name: (text) => isText(text) && !/\p{Cc}/u.test(text) && /\S/.test(text),
  /** E.164: up to 15 digits after the plus sign. */
  'phone-number': (text) => /^\+[1-9][0-9]{6,14}$/.test(text),
  /** As browsers check it: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
  'email-address': (text) => text.length <= 254 && emailAddress.test(text),
  /** `text` that is not blank. */
  'text-with-content': (text) => isText(text) && /\S/.test(text),
};

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
