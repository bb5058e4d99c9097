/** A response before it is serialised. */
export interface WriteResponse {
  readonly body: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether a response was stored under an `Idempotency-Key` by an earlier request, maybe one to an earlier version. */
export function isReplayed(headers: WriteResponse['headers'] = {}): boolean {
  return headers['idempotency-replayed'] === 'true';
}
