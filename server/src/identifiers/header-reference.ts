import { IdentifierError } from './identifier-error.ts';

/** The value of a request header; `undefined` when there is none. */
export type ReadHeader = (lowerCaseName: string) => string | undefined;

export interface ResolvedText {
  /** The identifier's text, from the header if one was referenced. */
  readonly text: string;
  /** The header it came from, in lower case. */
  readonly header: string | undefined;
}

const prefix = 'header:';
const maximumLength = 200;

const forbiddenNames = new Set([
  'authorization',
  'cookie',
  'host',
  'connection',
  'user-agent',
  'forwarded',
  'x-real-ip',
  'idempotency-key',
  'x-request-id',
  'traceparent',
  'tracestate',
]);
const forbiddenPrefixes = ['proxy-', 'content-', 'accept', 'x-forwarded-', 'x-service-'];

/**
 * Follows a header reference, `header:{name}`, one level deep: the header's value is the identifier's text and never
 * another reference. Any other text is returned as it is. A header name is a token (RFC 9110, section 5.1) whose letter
 * case carries no meaning; headers with credentials or a meaning of their own for the gateway may not be referenced.
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
  if (forbiddenNames.has(name) || forbiddenPrefixes.some((start) => name.startsWith(start))) {
    throw new IdentifierError('header_reference_forbidden', `${called} may not hold an identifier.`, place);
  }

  const value: unknown = readHeader(name);
  // Looked up in a plain object, a name such as `constructor` yields something that is not a header.
  if (typeof value !== 'string' || value.trim() === '') {
    throw new IdentifierError('header_reference_missing', `${called} is absent or empty.`, place);
  }
  if (value.startsWith(prefix)) {
    throw new IdentifierError(
      'identifier_malformed',
      `${called} must hold an identifier, not another header reference.`,
      place,
    );
  }
  return { text: value, header: name };
}

/**
 * The name if an error may show it. A caller may have put the identifier itself where the name belongs, so a name that
 * is long or has more than a few digits is kept to ourselves.
 */
export function nameableHeader(name: string): string | undefined {
  const digits = name.replaceAll(/[^0-9]/g, '').length;
  return name.length <= 40 && digits <= 4 ? name : undefined;
}
