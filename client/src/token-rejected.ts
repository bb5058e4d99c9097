/** There is no token: an error of OAuth (RFC 6749, section 5.2), or `invalid_key`. */
export class TokenRejected extends Error {
  readonly code: string;

  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}
