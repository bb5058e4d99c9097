import type { FhirSettings } from '../src/settings.ts';

type Mode = NonNullable<NonNullable<FhirSettings['booking']>['mode']>;

/** A FHIR server that runs already, takes ids of others, wants no sign-in, and has the data set. */
export interface RunningFhirServer {
  readonly url: string;
  readonly settings: Partial<FhirSettings>;
}

/**
 * The server that `FHIR_SERVER_URL` names, to be booked in as `FHIR_SERVER_MODE` says, else as the connector finds best.
 * `npm run fhir:load` gives it the data set.
 */
export function runningServers({ FHIR_SERVER_URL: url, FHIR_SERVER_MODE: mode } = process.env): RunningFhirServer[] {
  return url ? [{ url, settings: { booking: { mode: (mode || 'auto') as Mode } } }] : [];
}
