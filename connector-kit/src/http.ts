/** A request to an EHR over HTTP. */
export interface EhrRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, on a host that the connection's settings name. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /**
   * Whether sending it twice is as good as once: reads, searches by POST, and writes that are proved so (a conditional
   * create, a PUT under `If-Match` whose 412 is understood). Only these are sent again after a failure.
   */
  readonly repeatable: boolean;
}

export interface EhrResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * The way to an EHR that speaks HTTP, made by the gateway for each connection: pooled and kept alive, with time-outs,
 * bounded concurrency, retries of what is repeatable, `Retry-After`, a circuit breaker, a limit on the size of answers,
 * redirects refused, TLS verified, and private addresses refused unless the connection allows them. A connector does none
 * of this itself.
 *
 * An answer of any status is returned, except that 429, 502, 503 and 504 are thrown as `unavailable` when retries have not
 * helped and the EHR has surely done nothing.
 *
 * @throws ConnectorError `unavailable` (nothing was done), `timeout` (a repeatable request was not answered),
 *   `outcome_unknown` (any other was sent and not answered)
 */
export interface EhrHttp {
  send(request: EhrRequest): Promise<EhrResponse>;
}
