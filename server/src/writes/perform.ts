import { randomUUID } from 'node:crypto';
import type { Appointment, EhrConfirmation } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { assertWithinLimits, patientHashes } from '../confirmations/limits.ts';
import { idsWhoseTimeIsGone, noteUndone, waitAgain } from '../confirmations/unconfirmed.ts';
import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { type Answer, completeKey, type KeptWrite, renameOperation } from '../idempotency/kept-write.ts';
import { type Fault, type Place, Problem } from '../problems/problem.ts';
import { planAnswer } from './answer.ts';
import { type Commit, commitPlan, confirmStuck } from './commit.ts';
import { changeAppointments, isWhole } from './ehr-changes.ts';
import { type EhrResults, takeCodeStep } from './ehr-codes.ts';
import { ehrWrite, isSettled } from './ehr-write.ts';
import { endIntent, type Intent, markUndoing, markUnknown, storeIntent } from './intents.ts';
import { type DoneParts, PartiallyApplied } from './one-by-one.ts';
import type { WritePlan } from './plan.ts';
import type { WriteServices } from './services.ts';

/** Where a write happens, and whose it is. */
export interface WriteScene {
  readonly services: WriteServices;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly write: KeptWrite;
}

/** In the transaction that begins a write. A problem that it answers is told, and what it changed stays. */
type Begin = (tx: Tx) => Promise<Problem | undefined>;

/**
 * Does what a plan says. Before the EHR is asked, the plan is stored; when the EHR has done it, what the gateway has to
 * remember and the answer are stored in one transaction. No connection to the database is held in between. Whatever
 * stops half-way is finished by a retry or by the recovery.
 */
export async function perform(scene: WriteScene, plan: WritePlan, decide?: Begin): Promise<Answer> {
  if (plan.changes.length === 0 && !plan.viaEhr) return performWithoutEhr(scene, plan, decide);
  const expiresAt = await begin(scene, plan, decide);
  return finish(scene, plan, expiresAt);
}

/** Asks the EHR and ends the write. The intent is stored and ours. */
export async function finish(scene: WriteScene, plan: WritePlan, expiresAt: Date | null): Promise<Answer> {
  const { results, ehrConfirmation } = await askEhr(scene, plan, expiresAt);
  return end(scene, plan, results, expiresAt, ehrConfirmation);
}

/** Stores what follows from the EHR's results, and the answer with it. */
export async function end(
  scene: WriteScene,
  plan: WritePlan,
  results: readonly Appointment[],
  expiresAt: Date | null,
  ehrConfirmation?: EhrConfirmation,
): Promise<Answer> {
  const { services, write } = scene;
  if (isForgettable(plan) && !write.key) {
    // Nothing to remember: the end of the intent is one statement.
    await endIntent(services.db, services.process, write.operationId);
    return planAnswer(scene, plan, results, new Map());
  }
  return retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      await endIntent(tx, services.process, write.operationId);
      const made = await commitPlan(tx, { ...commitOf(scene, plan, results, expiresAt), ehrConfirmation });
      return completeKey(tx, write, planAnswer(scene, plan, results, made));
    }),
  );
}

/** Whether the gateway has nothing to remember of the write. */
function isForgettable({ confirmations, viaEhr, confirming, releasing = [] }: WritePlan): boolean {
  return confirmations.length === 0 && viaEhr === undefined && confirming === undefined && releasing.length === 0;
}

async function begin(
  { services, ehr, careUnit, write }: WriteScene,
  plan: WritePlan,
  decide: Begin | undefined,
): Promise<Date | null> {
  const intent = intentOf(ehr, careUnit, write);
  const lifetimeSeconds = plan.confirmations.length > 0 ? careUnit.code.lifetimeSeconds : undefined;
  const hashes = plan.confirmations.map(({ patientId }) => patientHashes(services.keys, ehr.id, patientId));
  const limits = { lifetimeSeconds, patientHashes: hashes.map(([newest]) => newest) };
  if (hashes.length === 0 && !decide) {
    return storeIntent(services.db, services.keys, services.process, intent, plan, limits);
  }
  const outcome = await retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      const problem = await decide?.(tx);
      if (problem) return problem;
      await assertAllWithinLimits(tx, write.clientId, hashes, careUnit);
      return { expiresAt: await storeIntent(tx, services.keys, services.process, intent, plan, limits) };
    }),
  );
  if (outcome instanceof Problem) throw outcome;
  return outcome.expiresAt;
}

/** Always in the same order: whoever counts for a patient keeps others waiting. */
async function assertAllWithinLimits(
  tx: Tx,
  clientId: string,
  patients: readonly [Buffer, ...Buffer[]][],
  { limitsPerPatient }: CareUnitConnection,
): Promise<void> {
  for (const hashes of patients.toSorted(([a], [b]) => Buffer.compare(a, b))) {
    await assertWithinLimits(tx, { clientId, hashes }, limitsPerPatient);
  }
}

async function askEhr(scene: WriteScene, plan: WritePlan, expiresAt: Date | null): Promise<EhrResults> {
  const { services, ehr, careUnit, write } = scene;
  try {
    if (plan.viaEhr) {
      return await takeCodeStep({ ehr, careUnit, operationId: plan.ehrOperationId ?? write.operationId }, plan.viaEhr);
    }
    const onUndo = () => markUndoing(services.db, services.process, write.operationId);
    return { results: await changeAppointments({ ...ehrWrite(scene, plan, expiresAt), onUndo }) };
  } catch (error) {
    if (!isSettled(error)) {
      await markUnknown(services.db, services.process, write.operationId);
      throw error;
    }
    const gone = error.reason === 'time_slot_unavailable' ? await idsWhoseTimeIsGone(scene, plan) : [];
    const isInPart = error instanceof PartiallyApplied;
    await endRefused(scene, plan, { gone, ...(isInPart ? { stuck: error.stuck } : {}) });
    throw isInPart ? byKnownIds(error, plan) : error;
  }
}

interface Refused {
  /** Ids whose code cannot confirm them any more. */
  readonly gone?: readonly string[];
  /** What the EHR is told on a retry, where it must not take it for what it knows already. */
  readonly anewAs?: string;
  /** What the EHR has done and does not undo, by the index of the change. */
  readonly stuck?: DoneParts;
}

/**
 * Ends a write of which nothing is left in the EHR, or nothing that can be undone: its code waits again.
 *
 * @throws Problem `idempotency_in_progress` when another process has taken it over: it settles what becomes of the key
 */
export async function endRefused(
  { services, ehr, careUnit, write }: WriteScene,
  plan: WritePlan,
  { gone = [], anewAs = randomUUID(), stuck = new Map() }: Refused,
): Promise<void> {
  await retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      await endIntent(tx, services.process, write.operationId);
      await waitAgain(tx, services.keys, intentOf(ehr, careUnit, write), plan, gone);
      await confirmStuck(tx, ehr.id, plan, stuck);
      // What was done and undone is done for the EHR: a retry has to be another operation.
      if (isWhole(ehr, plan.changes)) return;
      await renameOperation(tx, write, anewAs);
      await noteUndone(tx, plan);
    }),
  );
}

/** The outcome of every appointment of the answer, by the id that the caller knows it by. */
export function byKnownIds(error: Problem, plan: WritePlan): Problem {
  const faults = plan.answer.map(({ id, from }): Fault => {
    const known = id === undefined ? {} : { id, place: placeOf(id, plan) };
    const outcome = 'change' in from ? error.faults[from.change] : undefined;
    if (outcome) return { ...outcome, ...known };
    return { ...known, reason: 'partially_applied', detail: 'As it was.' };
  });
  return new Problem('partially_applied', { faults, cause: error.cause });
}

function placeOf(id: string, { requestedIds = [] }: WritePlan): Place | undefined {
  const index = requestedIds.indexOf(id);
  return index === -1 ? undefined : { in: 'body', pointer: `/ids/${index}` };
}

/** Nothing to ask the EHR for: one transaction decides and ends it. */
async function performWithoutEhr(scene: WriteScene, plan: WritePlan, decide: Begin | undefined): Promise<Answer> {
  const { services, ehr, careUnit, write } = scene;
  const outcome = await retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      const problem = await decide?.(tx);
      if (problem) return problem;
      const hashes = plan.confirmations.map(({ patientId }) => patientHashes(services.keys, ehr.id, patientId));
      await assertAllWithinLimits(tx, write.clientId, hashes, careUnit);
      const expiresAt = plan.confirmations.length > 0 ? await expiry(tx, careUnit.code.lifetimeSeconds) : null;
      const made = await commitPlan(tx, commitOf(scene, plan, [], expiresAt));
      return completeKey(tx, write, planAnswer(scene, plan, [], made));
    }),
  );
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}

function commitOf(
  { services, ehr, careUnit, write }: WriteScene,
  plan: WritePlan,
  results: readonly Appointment[],
  expiresAt: Date | null,
): Commit {
  return { services, clientId: write.clientId, ehr, careUnit, plan, results, expiresAt };
}

function intentOf(ehr: EhrConnection, careUnit: CareUnitConnection, write: KeptWrite): Intent {
  return {
    operationId: write.operationId,
    clientId: write.clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    keyHash: write.key?.hash,
  };
}

/** When a code that is made now runs out, by the database's clock. */
export async function expiry(tx: Tx, lifetimeSeconds: number): Promise<Date> {
  const { rows } = await sql<{ expires_at: Date }>`
    SELECT date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${lifetimeSeconds}) AS expires_at`.execute(
    tx,
  );
  if (!rows[0]) throw new Error('The database did not tell the time');
  return rows[0].expires_at;
}
