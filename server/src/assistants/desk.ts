import {
  type CareUnitClient,
  type CrosswardClient,
  type CrosswardClientOptions,
  createCrosswardClient,
} from '@crossward/client';
import type { KeyRing } from '../secrets/key-ring.ts';
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
  return {
    client,
    careUnit: client.careUnit(emr, careUnitId),
    references: createReferences(assignment, keys),
    assignment,
  };
}
