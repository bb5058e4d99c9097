import { IdentifierError } from './identifier-error.ts';

/**
 * The values of a request header, one for each time that it was sent, with a character for each byte as node has them.
 * `undefined`: it may not be referenced, whether it was sent or not.
 */
export type ReadHeader = (lowerCaseName: string) => readonly string[] | undefined;

export interface ResolvedText {
  /** The identifier's text, from the header if one was referenced. */
  readonly text: string;
  /** The header it came from, in lower case. */
  readonly header: string | undefined;
}

const prefix = 'header:';
const maximumLength = 200;

/**
 * Follows a header reference, `header:{name}`, one level deep: the header's value is the identifier's text and never
 * another reference. Any other text is returned as it is. A header name is a token (RFC 9110, section 5.1) whose letter
 * case carries no meaning. The value is UTF-8, and is sent once.
 *
 * @throws {IdentifierError} `identifier_malformed`, `header_reference_missing` or `header_reference_forbidden`
 */
export function resolveHeaderReference(text: string, readHeader: ReadHeader): ResolvedText {
  if (!text.startsWith(prefix)) return { text, header: undefined };

  const name = text.slice(prefix.length).toLowerCase();
  if (text.length > maximumLength || !/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) {
    throw new IdentifierError(
      'identifier_malformed',
      'A header reference is header: and the name of a request header, without spaces.',
    );
  }

  const place = nameableHeader(name);
  const called = place === undefined ? 'The header that is referenced' : `The header ${place}`;
  const values = readHeader(name);
  if (!values) throw new IdentifierError('header_reference_forbidden', `${called} may not hold an identifier.`, place);
  const [raw = '', ...others] = values;
  if (others.length > 0) {
    throw new IdentifierError('identifier_malformed', `${called} is sent more than once.`, place);
  }
  if (raw.trim() === '') throw new IdentifierError('header_reference_missing', `${called} is absent or empty.`, place);
  const value = asUtf8(raw);
  if (value === undefined) throw new IdentifierError('identifier_malformed', `${called} is not UTF-8.`, place);
  if (value.startsWith(prefix)) {
    throw new IdentifierError(
      'identifier_malformed',
      `${called} must hold an identifier, not another header reference.`,
      place,
    );
  }
  return { text: value, header: name };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function asUtf8(bytes: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

/**
 * The name if an error may show it. A caller may have put the identifier itself where the name belongs, so a name that
 * is long or has more than a few digits is kept to ourselves.
 */
export function nameableHeader(name: string): string | undefined {
  const digits = name.replaceAll(/[^0-9]/g, '').length;
  return name.length <= 40 && digits <= 4 ? name : undefined;
}
