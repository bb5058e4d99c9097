/** Signs requests to the EHR. */
export interface Authorizer {
  /** The headers of every request. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** Gets a new token after a 401 to a request with these headers. Absent where there is no token to renew. */
  renew?(rejected: Readonly<Record<string, string>>): Promise<void>;
}
