export type IdentifierErrorReason =
  | 'identifier_malformed'
  | 'identifier_type_unsupported'
  | 'header_reference_missing'
  | 'header_reference_forbidden';

/**
 * An identifier that cannot be used, in words that may reach the caller and the logs: `detail` says what was expected
 * and never repeats any part of the value that was given. No cause is attached, for the same reason.
 */
export class IdentifierError extends Error {
  override readonly name = 'IdentifierError';
  readonly reason: IdentifierErrorReason;
  readonly detail: string;
  /**
   * The request header at fault, in lower case: the reference led there and it is absent, forbidden or holds no
   * identifier. `undefined` when the fault lies in the text itself, or when the name could be an identifier in disguise.
   */
  readonly header: string | undefined;

  constructor(reason: IdentifierErrorReason, detail: string, header?: string) {
    super(detail);
    this.reason = reason;
    this.detail = detail;
    this.header = header;
  }
}
