/** A body that is read while it is sent, so that it need not fit into memory. */
export interface StreamedBody {
  /** Bytes. Sent as `Content-Length`. */
  readonly size: number;
  /** Reads the body from its beginning. Called again for each attempt. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** A request to an EHR over HTTP. */
export interface EhrRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute URL, on a host that the connection's settings name. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | StreamedBody;
  /**
   * Whether the request is idempotent: reads, searches by POST, and idempotent writes (a conditional create, a PUT with
   * `If-Match` whose 412 the connector handles). Only these are retried after a failure.
   */
  readonly repeatable: boolean;
  /**
   * Whether the request can change what a call of the port writes. The gateway must know: see `EhrHttp`. Absent: PUT, PATCH,
   * DELETE, and each POST that is not `repeatable`. Say `true` for a write by POST that is repeatable; `false` for a sign-in,
   * and for what leaves nothing that anybody could take for the write, such as a claim that ends by itself.
   */
  readonly writes?: boolean;
  /**
   * For a write: whether this answer says that the EHR refused it, so that this request has changed nothing. For an EHR that
   * refuses with status 200 or 500 and says so in the body. A status of 400 to 499 (but 408) or 501 counts as a refusal anyway.
   */
  readonly refused?: (response: EhrResponse) => boolean;
}

/** A complete response of the EHR. */
export interface EhrResponse {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A response whose body is read while it arrives. The caller reads `chunks` to the end or calls `return` on its iterator. */
export interface EhrStream {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * The HTTP client that the gateway gives to each connection. It pools connections, sets a time-out for each request,
 * retries repeatable requests and honours `Retry-After`, limits the size of responses, verifies TLS, and rejects private
 * addresses unless the connection allows them. The gateway also limits concurrency and total time and runs the circuit
 * breaker, around each call of the connector. A connector does none of this itself.
 *
 * Responses of any status are returned, except 429, 502, 503 and 504, which are failures. Redirects are not followed.
 *
 * The gateway notes whether a call of a write operation has sent a request that `writes` and was not refused. From then on the
 * caller is told `outcome_unknown`, whatever the connector throws: `unavailable` or `rejected` because of a read that followed,
 * or an unexpected error. So a connector need not convert the errors of later requests. Two errors stay as they are: one with
 * `nothingChanged`, and one of a kind such as `time_slot_unavailable` (any but `unavailable`, `timeout`, `connection_closed`,
 * `rejected` and `unsupported`) that the connector throws right after the answer to its only write, before another request.
 *
 * @throws ConnectorError if the last attempt fails:
 *   - `unavailable`: the EHR could not be reached, its address is not allowed, or it responded with 429, 502, 503 or 504;
 *     nothing was changed
 *   - `timeout`: a repeatable request timed out; one of the attempts may have been done
 *   - `connection_closed`: the connection closed before the response to a repeatable request; otherwise as `timeout`
 *   - `outcome_unknown`: any other request failed and may have been done
 *   - `rejected`: the response to a read is too large
 * @throws Error for a bug in the connector: a URL that is not HTTP or contains credentials, or an invalid request
 */
export interface EhrHttp {
  send(request: EhrRequest): Promise<EhrResponse>;
  /**
   * Like `send`, but returns when the head of the response has arrived. Only attempts without one are repeated. The time-out
   * of the request then applies to each pause in the body. Reading `chunks` throws `timeout`, `connection_closed`, or
   * `rejected` for more than 100 MiB. The gateway cancels the stream when nobody reads it.
   */
  stream(request: EhrRequest): Promise<EhrStream>;
}
