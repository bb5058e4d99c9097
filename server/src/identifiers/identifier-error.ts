export type IdentifierErrorReason =
  | 'identifier_malformed'
  | 'identifier_type_unsupported'
  | 'header_reference_missing'
  | 'header_reference_forbidden';

/**
 * An unusable identifier. `detail` is safe for responses and logs: it says what was expected and never quotes the value.
 * The error has no cause for the same reason.
 */
export class IdentifierError extends Error {
  override readonly name = 'IdentifierError';
  readonly reason: IdentifierErrorReason;
  readonly detail: string;
  /**
   * The referenced header, in lower case, if it is absent, forbidden or contains no identifier. `undefined` if the fault
   * is in the text itself, or if the header name itself could be an identifier.
   */
  readonly header: string | undefined;

  constructor(reason: IdentifierErrorReason, detail: string, header?: string) {
    super(detail);
    this.reason = reason;
    this.detail = detail;
    this.header = header;
  }
}
