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
 * The way to an EHR that speaks HTTP, made by the gateway for each connection: connections are pooled and kept alive, a
 * request has a time limit, what is repeatable is sent again after a failure and heeds `Retry-After`, the size of answers
 * is limited, TLS is verified, and private addresses are refused unless the connection allows them. Turns, the time limit
 * of a whole call and the circuit breaker are around the connector's calls, not in here. A connector does none of this
 * itself.
 *
 * An answer of any status is returned, a redirect too: it is not followed. Only 429, 502, 503 and 504 are failures.
 *
 * @throws ConnectorError when the last attempt has failed:
 *   - `unavailable`: the EHR could not be reached, may not be connected to, or answered 429, 502, 503 or 504; nothing was
 *     done
 *   - `timeout`: it did not answer a read, or may have done a repeatable request in one of the attempts
 *   - `outcome_unknown`: it may have done any other request
 *   - `rejected`: the answer to a read is too large
 * @throws Error a bug of the connector: a URL that is not one of HTTP or holds credentials, or a request that cannot be
 *   sent
 */
export interface EhrHttp {
  send(request: EhrRequest): Promise<EhrResponse>;
}
