import type { PatientIdentifier, ResourceIdentifier } from '@crossward/connector-kit';
import { IdentifierError } from './identifier-error.ts';
import { type IdentifierPolicy, parsePatientIdentifier, parseResourceIdentifier } from './notation.ts';
import { withoutNationalNumbers } from './without-national-numbers.ts';

/**
 * Returns the values of a request header, one per occurrence, as Latin-1 strings as Node provides them. Returns
 * `undefined` if the header must not be referenced.
 */
export type ReadHeader = (lowerCaseName: string) => readonly string[] | undefined;

interface ResolvedText {
  /** The identifier text, read from the header if one is referenced. */
  readonly text: string;
  /** The referenced header, in lower case. */
  readonly header: string | undefined;
}

const prefix = 'header:';
const maximumLength = 200;

/**
 * Resolves a header reference, `header:{name}`. The header value must be an identifier, not another reference. Returns
 * any other text unchanged. The header name is a case-insensitive token (RFC 9110 section 5.1). The value is UTF-8, and
 * the header must be sent exactly once.
 *
 * @throws {IdentifierError} `identifier_malformed`, `header_reference_missing` or `header_reference_forbidden`
 *
 * @internal for the test
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
 * The name if an error may show it. A caller may have sent the identifier itself instead of a name, so a name that is
 * long, has many digits or is a national number is not shown.
 */
function nameableHeader(name: string): string | undefined {
  const digits = name.replaceAll(/[^0-9]/g, '').length;
  return name.length <= 40 && digits <= 4 && withoutNationalNumbers(name) === name ? name : undefined;
}

/**
 * Reads a patient identifier from a request, where it can be a header reference. The rules are those of
 * `resolveHeaderReference` and `parsePatientIdentifier`. An error about a header's value names the header.
 *
 * @throws {IdentifierError}
 */
export function readPatientIdentifier(
  text: string,
  policy: IdentifierPolicy,
  readHeader: ReadHeader,
): PatientIdentifier {
  return read(text, readHeader, (resolved) => parsePatientIdentifier(resolved, policy));
}

/**
 * Reads a resource identifier from a request, where it can be a header reference. The rules are those of
 * `resolveHeaderReference` and `parseResourceIdentifier`. An error about a header's value names the header.
 *
 * @throws {IdentifierError}
 */
export function readResourceIdentifier(
  text: string,
  policy: IdentifierPolicy,
  readHeader: ReadHeader,
): ResourceIdentifier {
  return read(text, readHeader, (resolved) => parseResourceIdentifier(resolved, policy));
}

function read<Result>(text: string, readHeader: ReadHeader, parse: (text: string) => Result): Result {
  const resolved = resolveHeaderReference(text, readHeader);
  try {
    return parse(resolved.text);
  } catch (error) {
    if (!(error instanceof IdentifierError) || resolved.header === undefined) throw error;
    throw new IdentifierError(error.reason, error.detail, nameableHeader(resolved.header));
  }
}
