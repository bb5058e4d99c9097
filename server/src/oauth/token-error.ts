/** The errors of RFC 6749, section 5.2, that the token endpoint has, with what each means. */
export const tokenErrors = {
  invalid_request: 'A parameter is missing, repeated or wrong.',
  invalid_client: 'The assertion was not accepted.',
  unsupported_grant_type: 'The grant type is another one than `client_credentials`.',
  invalid_scope: 'The client may have none of the scopes that it asks for.',
  temporarily_unavailable:
    'Too many requests, or assertions that were not accepted. `Retry-After` has the seconds to wait.',
} as const;

export type TokenErrorCode = keyof typeof tokenErrors;

/** Why a client gets no access token. */
export class TokenError extends Error {
  readonly code: TokenErrorCode;
  /** For the client. It contains nothing of what was sent. */
  readonly description: string;
  /** The client that the assertion claims to be from. */
  readonly clientId: string | undefined;
  /** Why the keys of the client could not be read. */
  forOperators?: string;

  constructor(code: TokenErrorCode, description: string, clientId?: string) {
    super(code);
    this.code = code;
    this.description = description;
    this.clientId = clientId;
  }
}
