import type { AuditTrail } from '../audit/trail.ts';
import type { ClientBudgets } from '../config/schema/client-budgets.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { NewEvent } from '../events/new-event.ts';
import type { Outbox } from '../messages/outbox.ts';
import type { PageLinks } from '../messages/page-links.ts';
import type { Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { WriteMetrics } from './metrics.ts';

/** Services that a kind of write uses besides the EHR. */
export interface WorkServices {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly outbox: Outbox;
  /** Links to the pages for patients. */
  readonly pages: PageLinks;
  /** The budgets of a client, also of one that is gone. */
  budgetsOf(clientId: string): ClientBudgets;
}

/** Services that writes use, created once at start. */
export interface WriteServices extends WorkServices {
  readonly ehrs: EhrRegistry;
  /** Channels with a configured provider. */
  readonly channels: ReadonlySet<Channel>;
  /** By name. */
  readonly kinds: ReadonlyMap<string, AnyKind>;
  readonly writeMetrics: WriteMetrics;
  /**
   * Tokens of the leases under which this process is at work: it ends long before they do. Requests with the keys of their
   * writes are told to come back soon.
   */
  readonly liveTokens: Set<string>;
  readonly audit: AuditTrail;
}

/** Where a write is made. */
export interface InCareUnit {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/** A write that has not begun, or is only shown. */
export interface Proposal extends InCareUnit {
  readonly services: WorkServices;
  readonly clientId: string;
}

/** What a kind works with: the care unit, the client, and calls to the EHR under the write's lease. */
export interface Work extends Proposal {
  readonly writeId: string;
  /** When the holds and codes that it creates expire, by the database's clock. */
  readonly expiresAt: Date | null;
  /** No process has called the EHR for this attempt before. */
  readonly isFirst: boolean;
  /** Of an interrupted write that has not ended: when its plan was stored, by the database's clock. The EHR was called later. */
  readonly interruptedSince?: Date | undefined;
  /** The operation id that the EHR gets for the whole write or for one part. */
  ehrId(part?: number | string): string;
  /**
   * Calls the EHR like `EhrConnection.call`, under a lease that outlasts the call.
   *
   * @throws LeaseLost when another process has taken over the write. The EHR is not called.
   */
  readonly call: EhrConnection['call'];
  /**
   * Renews the lease while a call reads this content, because the call lasts as long as it makes progress.
   *
   * @throws LeaseLost, from `next`
   */
  underLease(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** What it may have made, another open write may have made too, and ends first. */
  isContested?: boolean;
  /** Notes that a request got no response: the EHR may still perform it, even a second time. */
  onNoResponse(): void;
  /** Marks the write as `compensating`: it is not performed again. */
  compensating(): Promise<void>;
}

/**
 * What a look-up in the EHR found.
 *
 * - `nothing`: no effect so far. An EHR that settles changes makes none of them any more
 * - `in part`: the EHR has performed some of the steps
 * - `nearly`: only steps are missing that do the same if they are done twice; `perform` leaves out the others
 * - `not known`: the EHR does not find writes by id, and reconciliation did not find the whole write
 */
export type Found<Outcome> = { readonly outcome: Outcome } | 'nothing' | 'in part' | 'nearly' | 'not known';

/** What a plan reserves while its write is open. */
export interface Reservation {
  /** Lifetime of the holds and codes that it creates. */
  readonly lifetimeSeconds: number | null;
  /** Of the patients who get a code. */
  readonly patientHashes: Buffer[];
}

/**
 * Local days of the care unit, such as `2026-11-28`, `-infinity` or `infinity`, on which a write may take time in the EHR.
 * `null`: none.
 */
export interface DaysTaken {
  readonly takesFrom: string | null;
  readonly takesUntil: string | null;
}

/**
 * A kind of write. To add one, implement this type in a folder of its own and add a line to `write-kinds.ts`. Plans
 * are stored as JSON; dates are restored as `Date`.
 */
export interface WriteKind<Plan, Outcome> {
  /** Stored with every write. Must not change. */
  readonly name: string;
  /** The kind of a stored plan, if several kinds share the name. */
  ofPlan?(plan: Plan): WriteKind<Plan, Outcome>;
  /** `false`: everything happens in the transaction that ends the write. */
  callsEhr(plan: Plan): boolean;
  /** The EHR's ids of the patients whose records the plan is about, for the audit trail. A look-up can find more. */
  patientsOf(plan: Plan): readonly string[];
  /**
   * What the plan reserves while it is open: holds and codes. Background recovery compensates a write that has one, and does
   * not finish it, because nobody could enter the code. Absent: nothing.
   */
  reservation?(proposal: Proposal, plan: Plan): Reservation | undefined;
  /**
   * When the plan may take time in the EHR, so that kept time slots of these days are not offered until its outcome is known.
   * Absent: never.
   */
  daysTaken?(careUnit: CareUnitConnection, plan: Plan): DaysTaken;
  /** The response to a dry run: makes all checks without changing or sending anything. Absent: there is no dry run. */
  preview?(proposal: Proposal, plan: Plan): Promise<WriteResponse>;
  /** Has no caller, and is performed again until the EHR succeeds. */
  readonly isRepeatable?: boolean;

  /** Whether the EHR finds writes of this kind by id and performs each id at most once. */
  findsById(ehr: EhrConnection): boolean;
  /** Whether the EHR, whose capabilities may have changed, can perform a stored plan. If not, it is only looked up. Default: yes. */
  canPerform?(ehr: EhrConnection, plan: Plan): boolean;
  /**
   * Performs the write in the EHR, all or nothing. Called again with the same ids if an earlier call was interrupted.
   *
   * @throws Problem for which `isSettled` holds when nothing is left in the EHR; `PartiallyApplied`
   */
  perform(work: Work, plan: Plan): Promise<Outcome>;
  /** Looks up in the EHR what it has performed. */
  lookUp(work: Work, plan: Plan): Promise<Found<Outcome>>;
  /**
   * Reverts what the EHR has performed, unless somebody has changed it since. Safe to call again.
   *
   * @throws PartiallyApplied when something cannot be reverted
   */
  compensate(work: Work, plan: Plan): Promise<void>;

  /** Whether a late effect should be adopted. Default: yes. */
  isWanted?(work: Work, plan: Plan): Promise<boolean>;

  /** What each step of the plan does, in words without personal data, for operators. Absent: one call. */
  stepsOf?(plan: Plan): readonly string[];

  /** Whether `record` has something to store. If not, `respond` is called instead. */
  hasRecords(plan: Plan): boolean;
  respond(work: Work, plan: Plan, outcome: Outcome): WriteResponse;
  /**
   * Stores the gateway's records in the transaction that ends the write, and returns the response.
   *
   * @throws Problem (4xx) when the write must be rejected
   */
  record(tx: Tx, work: Work, plan: Plan, outcome: Outcome): Promise<WriteResponse>;
  /** What other systems hear of. Written by the statement that ends the write. Default: nothing. */
  events?(work: Work, plan: Plan, outcome: Outcome, response: WriteResponse): readonly NewEvent[];
  /**
   * Frees what `decide` marked or the route stored for the plan, in the transaction that ends the write without effect.
   * Absent: nothing.
   */
  cleanUp?(tx: Tx, work: Work, plan: Plan, problem: Problem | undefined): Promise<void>;
  /** Does what `cleanUp` does for a write that an operator drops, whatever its plan. */
  drop?(tx: Tx, writeId: string): Promise<void>;
}

/** A kind with opaque plans and outcomes. */
export type AnyKind = WriteKind<unknown, unknown>;

/** The kind of a stored plan. `undefined`: this version does not know it. */
export function kindOf(kinds: ReadonlyMap<string, AnyKind>, name: string | null, plan: unknown): AnyKind | undefined {
  const kind = kinds.get(name ?? '');
  return kind?.ofPlan?.(plan) ?? kind;
}

/** A write to the EHR as data: decided, and not begun. */
export interface PlannedWrite {
  readonly kind: AnyKind;
  readonly plan: unknown;
  readonly decide?: Decide | undefined;
}

/**
 * Decides, in the transaction that stores the plan, whether it may be performed, and marks what it will change in the gateway's
 * tables. What it changed is committed if it returns a problem, such as the count of a wrong code, and rolled back if it throws
 * one, or returns `OutdatedPlan`: then the write is planned again.
 */
export type Decide = (tx: Tx, writeId: string) => Promise<Problem | undefined>;

export function plannedWrite<Plan, Outcome>(
  kind: WriteKind<Plan, Outcome>,
  plan: NoInfer<Plan>,
  decide?: Decide,
): PlannedWrite {
  return { kind: kind as AnyKind, plan, decide };
}

/** A response before it is serialised. */
export interface WriteResponse {
  readonly body: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
