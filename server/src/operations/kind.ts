import type { Tx } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { Problem } from '../problems/problem.ts';
import type { Answer } from './answer.ts';
import type { WorkServices } from './work-services.ts';

/** What an operation is about: where, for whom, and the one way to the EHR. */
export interface Work {
  readonly services: WorkServices;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly clientId: string;
  readonly operationId: string;
  /** When the holds and codes that it makes run out, by the database's clock. */
  readonly expiresAt: Date | null;
  /** The EHR has not been asked for this attempt before, by anybody. */
  readonly isFirst: boolean;
  /** The operation id that the EHR is given, or that of a part. */
  ehrId(part?: number | string): string;
  /**
   * Asks the EHR, as `EhrConnection.call` does, under a lease that outlasts the call.
   *
   * @throws LeaseLost when somebody else has taken the operation over: the EHR is not asked
   */
  readonly call: EhrConnection['call'];
  /** Notes that a request got no response: the EHR may still do it, even after it has done it. */
  onNoResponse(): void;
  /** Notes that what the EHR has done is taken back from here on: nobody does it again. */
  compensating(): Promise<void>;
}

/**
 * What the EHR shows of an operation.
 *
 * - `nothing`: the EHR was asked and has done none of it, so far
 * - `in part`: some of its steps are done
 * - `not known`: this EHR cannot be asked what it has done
 */
export type Found<Outcome> = { readonly outcome: Outcome } | 'nothing' | 'in part' | 'not known';

/**
 * A kind of write. The engine knows nothing else of it: a new kind is an object of this type in a folder of its own, and
 * a line in `operation-kinds.ts`. A plan is JSON, but for dates, which come back as dates.
 */
export interface OperationKind<Plan, Outcome> {
  /** Stored with every operation: never changed. */
  readonly name: string;
  /** Without it everything is done in the transaction that ends the operation. */
  asksEhr(plan: Plan): boolean;
  /**
   * What nobody may find out later: a code that is made and told. Without its caller the operation is taken back, not
   * finished. Answers the patients who are sent one.
   */
  codesFor(plan: Plan): readonly string[];
  /** `undo` does nothing: what was begun runs out in the EHR by itself. */
  readonly takesNothingBack?: boolean;
  /** May be done again at any time, by anybody, until the EHR has done it: there is no caller to tell. */
  readonly isRepeatable?: boolean;

  /**
   * Has the EHR do it, all or nothing. Called again with the same ids where an earlier call did not come to an end.
   *
   * @throws Problem that is settled (`isSettled`) when nothing of it is left in the EHR, or `PartiallyApplied`
   */
  perform(work: Work, plan: Plan): Promise<Outcome>;
  /** Finds out what the EHR has done of it. */
  lookUp(work: Work, plan: Plan): Promise<Found<Outcome>>;
  /**
   * Takes back what the EHR has done of it, where nobody else has changed it since. Safe to call again.
   *
   * @throws PartiallyApplied when something stays
   */
  undo(work: Work, plan: Plan): Promise<void>;

  /** Of what turned up late: whether anybody still wants it. Without it everybody does. */
  isWanted?(work: Work, plan: Plan): Promise<boolean>;

  /** Whether `record` stores anything. Without it `answer` says all. */
  remembers(plan: Plan): boolean;
  answer(work: Work, plan: Plan, outcome: Outcome): Answer;
  /**
   * Stores what the gateway has to remember, in the transaction that ends the operation, and answers.
   *
   * @throws Problem of the caller (4xx) when it must not be: the operation is refused
   */
  record(tx: Tx, work: Work, plan: Plan, outcome: Outcome): Promise<Answer>;
  /** Gives up what the plan had reserved in the gateway's tables, in the transaction that ends the operation. */
  letGo(tx: Tx, work: Work, plan: Plan, refusal: Problem | undefined): Promise<void>;
}

/** A kind whose plans only it can read. */
export type AnyKind = OperationKind<unknown, unknown>;
