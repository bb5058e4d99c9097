import { randomUUID } from 'node:crypto';
import type { Appointment } from '@crossward/connector-kit';
import { waitAgain } from '../confirmations/unconfirmed.ts';
import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import { type Answer, completeWithProblem, type KeptWrite, renameOperation } from '../idempotency/kept-write.ts';
import { Problem } from '../problems/problem.ts';
import { knowsOperations } from './ehr-changes.ts';
import { ehrWrite, isFinal, partId } from './ehr-write.ts';
import { findDone, findDoneParts } from './find-done.ts';
import { claimIntent, endIntent, markUndoing, noteMissing, type StoredIntent } from './intents.ts';
import { PartiallyApplied, undo } from './one-by-one.ts';
import { byKnownIds, end, endRefused, finish, type WriteScene } from './perform.ts';
import { holdsTime } from './plan.ts';
import { releaseHolds } from './release-holds.ts';
import type { WriteServices } from './services.ts';

/**
 * Finishes what an earlier request with the same key has begun: the EHR is told the same operation id again and does
 * nothing twice. An EHR that does not know operations is only looked at. `undefined`: nothing was begun. `anewAs`: what
 * was begun has run out or was undone, and the EHR has to be told another operation id, which is the key's from now on.
 *
 * @throws Problem `outcome_unknown` when the EHR cannot be asked and shows nothing of it
 */
export async function resumeWrite(
  services: WriteServices,
  write: KeptWrite,
): Promise<Answer | { readonly anewAs: string } | undefined> {
  const intent = await claimIntent(services.db, services.keys, services.process, write.operationId);
  if (intent === undefined) return undefined;
  if (intent === 'busy') throw new Problem('idempotency_in_progress', { headers: { 'retry-after': '1' } });
  const scene = sceneOf(services, intent, write);
  const anewAs = randomUUID();
  if (intent.isBeingUndone) {
    await undoRest(scene, intent, anewAs);
    return { anewAs };
  }
  if (intent.hasRunOut) {
    const lost = await takeBack(scene, intent, anewAs, (tx) => renameOperation(tx, write, anewAs));
    if (lost) throw lost;
    return { anewAs };
  }
  if (knowsOperations(scene.ehr)) return finish(scene, intent.plan, intent.expiresAt);
  const found = await findDone(scene, intent);
  if (found === null || typeof found === 'string') throw await outcomeUnknown(scene, intent);
  return end(scene, intent.plan, found, intent.expiresAt);
}

/**
 * Ends a write that nobody asks for any more. What nobody was told of is finished, except a code that nobody was told
 * of: its holds are given up. Where the caller was told that the outcome is unknown, nothing new is begun: what the EHR
 * has done already is put on record, and what it has done in part is finished. An EHR that does not know operations is
 * given nothing to do again, whoever was told. `false`: it shows nothing of the write, or not all of it.
 */
export async function recoverWrite(services: WriteServices, intent: StoredIntent): Promise<boolean> {
  const { clientId, operationId, keyHash } = intent;
  const key = keyHash && { hash: keyHash, owner: services.process.id, keys: services.keys, isDone: false };
  const scene = sceneOf(services, intent, { operationId, clientId, key });
  await ownKey(services, intent);
  try {
    return await recover(scene, intent);
  } finally {
    // Whatever has not become an answer is for a retry to find out, with whichever gateway.
    await openKey(services, intent);
  }
}

async function recover(scene: WriteScene, intent: StoredIntent): Promise<boolean> {
  const { plan, isTold, expiresAt } = intent;
  if (intent.isBeingUndone) {
    await undoRest(scene, intent);
    return true;
  }
  if (plan.confirmations.length > 0) {
    // A retry starts anew, under another operation id: the EHR has done this one.
    return !(await takeBack(scene, intent, randomUUID(), (tx) => forgetKey(tx, intent)));
  }
  const isAsked = isTold || !knowsOperations(scene.ehr);
  const found = isAsked ? await findDone(scene, intent) : undefined;
  if (found === 'not known') {
    await outcomeUnknown(scene, intent);
    return false;
  }
  if (found === null) await drop(scene, intent);
  else if (found === undefined || found === 'in part') await finish(scene, plan, expiresAt);
  else await end(scene, plan, found, expiresAt);
  return true;
}

function sceneOf(services: WriteServices, intent: StoredIntent, write: KeptWrite): WriteScene {
  const ehr = services.ehrs.get(intent.emr);
  const careUnit = ehr?.careUnits.get(intent.careUnitId);
  if (!ehr || !careUnit) throw new Error('A stored write is for an EHR or care unit that is not configured any more');
  return { services, ehr, careUnit, write };
}

/**
 * Of a write in an EHR that cannot be asked, which shows nothing of it or not all: the caller is told so, and it is
 * looked for again. After a while nobody looks any more: it ends, nothing is done again, and a retry is told so for good.
 */
async function outcomeUnknown(scene: WriteScene, intent: StoredIntent): Promise<Problem> {
  const { services, write } = scene;
  const { operationId, emr, plan } = intent;
  if (!(await noteMissing(services.db, services.process, operationId))) return new Problem('outcome_unknown');
  const problem = new Problem('outcome_unknown', {
    detail: 'The EHR may or may not have made the change, and has not shown it since. It will not be made again.',
    retryable: false,
  });
  await retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      await endIntent(tx, services.process, operationId);
      await waitAgain(tx, services.keys, intent, plan);
      await completeWithProblem(tx, write, problem);
    }),
  );
  services.onOutcomeLost({ operationId, emr });
  return problem;
}

/** Gives up the holds of a write whose code was never told, and the write with them; else tells why it cannot. */
async function takeBack(
  scene: WriteScene,
  intent: StoredIntent,
  anewAs: string,
  settleKey: KeySettlement,
): Promise<Problem | undefined> {
  const done = await findDone(scene, intent);
  if (done === 'not known') return outcomeUnknown(scene, intent);
  if (done === 'in part') {
    await undoRest(scene, intent, anewAs);
    return undefined;
  }
  if (done && holdsTime(intent.plan)) {
    const held = heldBy(intent, done).map(({ id }) => id);
    try {
      await releaseHolds(scene, partId(intent.operationId, 'taken back'), held);
    } catch (error) {
      // What the EHR does not give up runs out there by itself.
      if (!isFinal(error)) throw error;
    }
  }
  await drop(scene, intent, settleKey);
  return undefined;
}

function heldBy({ plan }: StoredIntent, done: readonly Appointment[]): Appointment[] {
  return plan.changes.flatMap((change, index) => {
    const appointment = done[index];
    return change.kind === 'create' && change.hold && appointment ? [appointment] : [];
  });
}

/**
 * Undoes what is done of a write whose changes go one by one. A retry begins anew.
 *
 * @throws Problem `partially_applied` when the EHR refuses; `ehr_unavailable` and others when it is to be tried again
 */
async function undoRest(scene: WriteScene, intent: StoredIntent, anewAs: string = randomUUID()): Promise<void> {
  const { services } = scene;
  const { plan, expiresAt } = intent;
  await markUndoing(services.db, services.process, intent.operationId);
  try {
    await undo(ehrWrite(scene, plan, expiresAt), await findDoneParts(scene, intent));
  } catch (error) {
    if (!(error instanceof PartiallyApplied)) throw error;
    await endRefused(scene, plan, { anewAs, stuck: error.stuck });
    throw byKnownIds(error, plan);
  }
  await endRefused(scene, plan, { anewAs });
}

/** What becomes of the key of a write that is dropped. */
type KeySettlement = (tx: Tx) => Promise<void>;

/** In one transaction with the key: a retry must not find the key of a write that was taken back, and no write. */
async function drop({ services }: WriteScene, intent: StoredIntent, settleKey?: KeySettlement): Promise<void> {
  const { plan, operationId } = intent;
  await retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      await endIntent(tx, services.process, operationId);
      await waitAgain(tx, services.keys, intent, plan);
      await settleKey?.(tx);
    }),
  );
}

async function ownKey({ db, process }: WriteServices, intent: StoredIntent): Promise<void> {
  if (!intent.keyHash) return;
  await db
    .updateTable('idempotency_keys')
    .set({ owner: process.id, state: 'running' })
    .where('client_id', '=', intent.clientId)
    .where('key_hash', '=', intent.keyHash)
    .where('operation_id', '=', intent.operationId)
    .where('state', '<>', 'done')
    .execute();
}

async function openKey({ db, process }: WriteServices, intent: StoredIntent): Promise<void> {
  if (!intent.keyHash) return;
  await db
    .updateTable('idempotency_keys')
    .set({ state: 'open' })
    .where('client_id', '=', intent.clientId)
    .where('key_hash', '=', intent.keyHash)
    .where('operation_id', '=', intent.operationId)
    .where('owner', '=', process.id)
    .where('state', '=', 'running')
    .execute();
}

async function forgetKey(tx: Tx, intent: StoredIntent): Promise<void> {
  if (!intent.keyHash) return;
  await tx
    .deleteFrom('idempotency_keys')
    .where('client_id', '=', intent.clientId)
    .where('key_hash', '=', intent.keyHash)
    .where('operation_id', '=', intent.operationId)
    .where('state', '<>', 'done')
    .execute();
}
