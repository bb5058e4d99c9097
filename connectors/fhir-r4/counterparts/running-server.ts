import type { FhirSettings } from '../src/settings.ts';

type Mode = NonNullable<NonNullable<FhirSettings['booking']>['mode']>;

/** A running FHIR server with the data set. It accepts client-assigned ids and needs no sign-in. */
export interface RunningFhirServer {
  readonly url: string;
  readonly settings: Partial<FhirSettings>;
}

/**
 * The server at `FHIR_SERVER_URL`, if that is set. `FHIR_SERVER_MODE` is its booking mode, `auto` by default. Load the
 * data set with `npm run fhir:load` first.
 */
export function runningServers({ FHIR_SERVER_URL: url, FHIR_SERVER_MODE: mode } = process.env): RunningFhirServer[] {
  return url ? [{ url, settings: { booking: { mode: (mode || 'auto') as Mode } } }] : [];
}
