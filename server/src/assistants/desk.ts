import { type CareUnitClient, type CrosswardClient, createCrosswardClient } from '@crossward/client';
import { createReferences, type References } from './references.ts';

/** For whom an assistant books, where, and with which credentials. The host says so, never the model. */
export interface Assignment {
  /** Base URL of the gateway. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
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

/**
 * Sends nothing.
 *
 * @throws {TypeError} if the URL or the credentials cannot be right
 */
export function createDesk(assignment: Assignment): Desk {
  const { baseUrl, clientId, clientSecret, emr, careUnitId } = assignment;
  const client = createCrosswardClient({ baseUrl, clientId, clientSecret, timeoutMs });
  return {
    client,
    careUnit: client.careUnit(emr, careUnitId),
    references: createReferences(assignment),
    assignment,
  };
}
