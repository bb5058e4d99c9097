import {
  type CareUnit,
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
  /** Absent: every care unit of the EHR that the client may use. */
  readonly careUnitId?: string | undefined;
  /** Patient ID notation, such as `no_personal_number:15859000026`. */
  readonly patient: string;
}

/** What the tools work with: one patient at one care unit, or at all of an EHR. */
export interface Desk {
  readonly client: CrosswardClient;
  readonly references: References;
  readonly assignment: Assignment;
  /** Where the assistant books. @throws an error of the client */
  careUnits(): Promise<readonly CareUnit[]>;
  /** Their ids. @throws as `careUnits`, unless there is only one */
  careUnitIds(): Promise<readonly string[]>;
  /** The operations of one of them. `undefined`, as in a reference of an earlier version: the only one */
  at(careUnitId: string | undefined): CareUnitClient;
  /** IANA name: that of the first care unit. @throws an error of the client */
  timeZone(): Promise<string>;
  /** The present time, RFC 3339, with the first care unit's offset, or in UTC if the gateway does not respond. */
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
  const options = { timeoutMs: 10_000 };
  let known: readonly CareUnit[] | undefined;
  async function careUnits(): Promise<readonly CareUnit[]> {
    const units = client.careUnits(emr);
    known ??= careUnitId === undefined ? await units.list({}, options).all() : [await units.get(careUnitId, options)];
    return known;
  }
  const timeZone = async () => (await careUnits())[0]?.time_zone ?? 'UTC';
  return {
    careUnits,
    careUnitIds: async () => (careUnitId === undefined ? (await careUnits()).map(({ id }) => id) : [careUnitId]),
    at(id = careUnitId) {
      if (id === undefined) throw new TypeError('No care unit is named');
      return client.careUnit(emr, id);
    },
    timeZone,
    now: async () => formatInstant(new Date(), await timeZone().catch(() => 'UTC')),
    client,
    references: createReferences(assignment, keys),
    assignment,
  };
}
