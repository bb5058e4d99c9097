import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { httpSchema } from '../../server/src/config/schema/http.ts';

/** `http.drain_seconds` by default. */
export const drainSeconds: number = defaultOf('drain_seconds');

/** A body that arrives slowly, and a call to an EHR that takes its time, by default. */
export const longestRequestSeconds =
  defaultOf('request_timeout_seconds') + resolveConnection(undefined).timeout_ms / 1000;

function defaultOf(name: 'drain_seconds' | 'request_timeout_seconds'): number {
  return (httpSchema.properties[name] as unknown as { readonly default: number }).default;
}
