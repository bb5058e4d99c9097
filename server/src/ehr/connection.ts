import type {
  Capabilities,
  Connector,
  ConnectorOperation,
  ConnectorOperations,
  DocumentContent,
  DocumentWrite,
  PatientPhones,
  TimeSlot,
  TimeSlotQuery,
} from '@crossward/connector-kit';
import { reachableNumber, writeOperations } from '@crossward/connector-kit';
import type { PatientPageSettings } from '../config/schema/patient-page.ts';
import type { PatientLimits } from '../config/schema/policies.ts';
import type { PublicationSettings } from '../config/schema/publication.ts';
import type { NumberPolicy } from '../identifiers/value-rules.ts';
import { Problem, unavailable } from '../problems/problem.ts';
import type { PatientTokens } from '../secrets/patient-tokens.ts';
import { asProblem } from './connector-problems.ts';
import { withProgress } from './guard/call-scope.ts';
import type { EhrTls } from './guard/ehr-tls.ts';
import type { EhrHealth, Guard } from './guard/guard.ts';
import type { Opening } from './opening.ts';
import { createSlotSearches } from './slot-searches.ts';
import type { UnreadableRecords } from './unreadable-records.ts';

export type ConfirmationPolicy = 'none' | 'code';

export interface CareUnitConnection {
  readonly id: string;
  readonly name: string;
  readonly timeZone: string;
  readonly language: 'nb' | 'sv' | 'en';
  /** ISO 3166-1 alpha-2: where phone numbers without a country code are from. Absent: unknown. */
  readonly defaultCountry?: string | undefined;
  readonly bookingConfirmation: ConfirmationPolicy;
  readonly cancellationConfirmation: ConfirmationPolicy;
  readonly cancellationCodeByEmail: boolean;
  readonly code: { readonly length: number; readonly lifetimeSeconds: number; readonly attempts: number };
  readonly limitsPerPatient: PatientLimits;
  readonly patientPage: PatientPageSettings;
  /** Absent: its free times are not public. */
  readonly publication?: PublicationSettings | undefined;
}

/**
 * The first of the patient's phone numbers that can be reached, in E.164. One without a country code gets that of the care unit's
 * default country. `null`: there is none.
 */
export function phoneOf(
  { phone, nationalPhone, phones = [phone ?? nationalPhone ?? ''] }: PatientPhones,
  { defaultCountry }: Pick<CareUnitConnection, 'defaultCountry'>,
): string | null {
  return phones.map((it) => reachableNumber(it, defaultCountry)).find((it) => it !== undefined) ?? null;
}

/** Time limits for an EHR, in seconds. */
export interface EhrTimes {
  /** Maximum duration of one call, including the time in the queue. When content is sent: after its last part. */
  readonly callSeconds: number;
  /** Time after the last attempt of a write before its absence in the EHR counts as not done. */
  readonly settlingSeconds: number;
  /** Time after the request during which its write may still be retried. */
  readonly giveUpSeconds: number;
}

/** The connection to one EHR: its configuration, its capabilities and the calls to it. */
export interface EhrConnection {
  readonly id: string;
  readonly name: string;
  /** The connector's name. */
  readonly connector: string;
  /** Keyed hash of what the connection is made of: with another one, its ids may mean something else. */
  readonly source: string;
  /** @throws Problem `ehr_unavailable` or `ehr_paused` until the connector is open, because its capabilities are unknown */
  readonly capabilities: Capabilities;
  readonly isOpen: boolean;
  readonly numbers: NumberPolicy;
  /** The request header in which clients name the person who makes a request, in lower case. Absent: none. */
  readonly userHeader?: string | undefined;
  /** For an EHR to which patients' identifiers pass through: `capabilities.passesThrough`. */
  readonly patientTokens: PatientTokens;
  readonly careUnits: ReadonlyMap<string, CareUnitConnection>;
  readonly times: EhrTimes;
  /** Seconds between two readings of the changes that are made directly in the EHR. 0: they are not read. */
  readonly changesSeconds: number;
  /** `undefined`: it has no certificates of its own. */
  readonly tls?: EhrTls | undefined;
  offers(operation: ConnectorOperation): boolean;
  health(): EhrHealth;
  /** No call is made or queued: work that nobody waits for can use it. */
  isIdle(): boolean;
  /**
   * Calls the EHR. The caller must not hold a database connection meanwhile.
   *
   * @throws Problem `operation_unsupported`, or the problem that corresponds to the connector's error
   */
  call<Operation extends ConnectorOperation>(
    operation: Operation,
    ...input: Parameters<ConnectorOperations[Operation]>
  ): ReturnType<ConnectorOperations[Operation]>;
  /**
   * Free time slots to show. Identical searches share a call to the EHR. For a booking use `call`, which always asks.
   *
   * @throws what `call` throws
   */
  searchTimeSlots(query: TimeSlotQuery): Promise<readonly TimeSlot[]>;
  /** What this process could not read of the EHR's records within a day. */
  unreadableRecords(): readonly UnreadableRecords[];
  /** Counts a request that has failed because of the EHR, for the log. */
  requestFailed(cause: unknown): void;
}

/** The calls to one EHR. */
export type EhrCalls = Pick<
  EhrConnection,
  'capabilities' | 'isOpen' | 'isIdle' | 'offers' | 'health' | 'call' | 'searchTimeSlots'
>;

/** Names, policies and other facts of an EHR with the calls to it. */
export function createConnection(facts: Omit<EhrConnection, keyof EhrCalls>, calls: EhrCalls): EhrConnection {
  // Not by a copy, which would have the capabilities as they are now.
  return Object.defineProperties({ ...facts }, Object.getOwnPropertyDescriptors(calls)) as EhrConnection;
}

export function createCalls(opening: Opening, guard: Guard): EhrCalls {
  const connector = (): Connector => {
    if (opening.connector) return opening.connector;
    const paused = guard.paused();
    if (paused) throw asProblem(paused);
    const detail = opening.detail();
    const retryAfterSeconds = opening.retryAfterSeconds();
    throw unavailable('ehr_unavailable', { retryAfterSeconds, ...(detail === undefined ? {} : { detail }) });
  };
  const searches = createSlotSearches(
    (search) => ask(guard, 'listTimeSlots', () => connector().listTimeSlots && search, []) as ReturnType<typeof search>,
  );
  return {
    get capabilities() {
      return connector().capabilities;
    },
    get isOpen() {
      return opening.connector !== undefined;
    },
    offers: (operation) => connector()[operation] !== undefined,
    health: guard.health,
    isIdle: guard.isIdle,
    call: <Operation extends ConnectorOperation>(
      operation: Operation,
      ...input: Parameters<ConnectorOperations[Operation]>
    ) => {
      const called = ask(guard, operation, () => connector()[operation], input);
      if (isWrite(operation)) called.then(searches.forget, searches.forget);
      return called as ReturnType<ConnectorOperations[Operation]>;
    },
    searchTimeSlots: (query) => searches.find(query, async () => (await connector().listTimeSlots?.(query)) ?? []),
  };
}

function isWrite(operation: ConnectorOperation): boolean {
  return (writeOperations as readonly ConnectorOperation[]).includes(operation);
}

/** Loosely typed, because the mapped type does not work with a union of methods. */
async function ask(
  guard: Guard,
  operation: ConnectorOperation,
  find: () => unknown,
  input: readonly unknown[],
): Promise<unknown> {
  const method = find();
  if (typeof method !== 'function') throw new Problem('operation_unsupported');
  try {
    if (operation === 'readDocument') return withProblems(await guard.stream(operation, async () => method(...input)));
    if (operation === 'createDocument') {
      return await guard.run(operation, async () => method(withProgress(input[0] as DocumentWrite)));
    }
    return await guard.run(operation, async () => method(...input));
  } catch (error) {
    throw asProblem(error);
  }
}

/** The content with the errors of the call. Not a generator: one that was never read would not cancel the stream. */
function withProblems(content: DocumentContent | null): DocumentContent | null {
  if (!content) return null;
  const source = content.chunks[Symbol.asyncIterator]();
  const chunks: AsyncIterableIterator<Uint8Array> = {
    next: () =>
      source.next().catch((error: unknown) => {
        throw asProblem(error);
      }),
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { ...content, chunks };
}
