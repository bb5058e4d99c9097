import { ConnectorError } from '@crossward/connector-kit';

/** The EHR limits the rate of requests, and this one would have to wait for too long. It was not processed. */
export class Throttled extends ConnectorError {
  constructor(retryAfterSeconds: number) {
    super('unavailable', 'The EHR limits the rate of requests', { retryAfterSeconds });
  }
}
