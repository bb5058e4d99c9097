import {
  type CareUnitClient,
  type CrosswardClient,
  type CrosswardClientOptions,
  createCrosswardClient,
} from '@crossward/client';
import type { KeyRing } from '../secrets/key-ring.ts';
import { formatInstant } from '../time/date-times.ts';
import { createReferences, type References } from './references.ts';

/** For whom an assistant books, and where. The host says so, never the model. */
export interface Assignment {
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  /** Patient ID notation, such as `no_personal_number:15859000026`. */
  readonly patient: string;
}

/** What the tools work with: one patient at one care unit. */
export interface Desk {
  readonly client: CrosswardClient;
  readonly careUnit: CareUnitClient;
  readonly references: References;
  readonly assignment: Assignment;
  /** IANA name. @throws an error of the client */
  timeZone(): Promise<string>;
  /** The present time, RFC 3339, with the care unit's offset, or in UTC if the gateway does not respond. */
  now(): Promise<string>;
}

/** Milliseconds. Hosts usually wait for 60 seconds. */
const timeoutMs = 50_000;

/** How the gateway is reached. One of the three credentials. */
export type GatewayAccess = Pick<CrosswardClientOptions, 'baseUrl' | 'clientSecret' | 'privateKey' | 'accessToken'>;

/**
 * Sends nothing.
 *
 * @param keys with which references are sealed
 * @throws {TypeError} if the URL or the credentials cannot be right
 */
export function createDesk(assignment: Assignment, access: GatewayAccess, keys: KeyRing): Desk {
  const { clientId, emr, careUnitId } = assignment;
  const client = createCrosswardClient({ ...access, clientId, timeoutMs });
  let known: string | undefined;
  async function timeZone(): Promise<string> {
    known ??= (await client.careUnits(emr).get(careUnitId, { timeoutMs: 10_000 })).time_zone;
    return known;
  }
  return {
    timeZone,
    now: async () => formatInstant(new Date(), await timeZone().catch(() => 'UTC')),
    client,
    careUnit: client.careUnit(emr, careUnitId),
    references: createReferences(assignment, keys),
    assignment,
  };
}
