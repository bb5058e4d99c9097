import { ConnectorError } from '@crossward/connector-kit';
import type { Pause } from '../pauses.ts';

/** Seconds after which a caller may ask again if the end of a pause is not known. */
const unknownEndSeconds = 60;

/** Operators have paused the EHR. The call was not made. */
export class Paused extends ConnectorError {
  readonly pause: Pause;

  /** @param now the database's time */
  constructor(pause: Pause, now: Date) {
    const { until } = pause;
    const seconds = until ? Math.ceil((until.getTime() - now.getTime()) / 1000) : unknownEndSeconds;
    super('unavailable', 'Operators have paused the EHR', { retryAfterSeconds: Math.max(1, seconds) });
    this.pause = pause;
  }
}
