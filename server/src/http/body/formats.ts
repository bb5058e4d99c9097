import { isEmailAddress, reachableNumber } from '@crossward/connector-kit';
import { isTitle } from '../../documents/title.ts';
import { hidesText } from '../../identifiers/hidden-text.ts';
import { isCareUnitDateTime, isDateTime, isLocalDateTime } from '../../time/date-times.ts';

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
  /** `line` that is not blank, and shows all that it holds. */
  name: (text) => isText(text) && !hidesText(text) && /\S/.test(text),
  /** E.164, of a length that numbers of its country have. */
  'phone-number': (text) => /^\+[1-9][0-9]{6,14}$/.test(text) && reachableNumber(text) === text,
  'email-address': isEmailAddress,
  /** `text` that is not blank. */
  'text-with-content': (text) => isText(text) && /\S/.test(text),
};

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
