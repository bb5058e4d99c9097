/** A response before it is serialised. */
export interface OperationResponse {
  readonly body: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
