import { randomUUID } from 'node:crypto';
import type { Appointment } from '@crossward/connector-kit';
import { waitAgain } from '../confirmations/unconfirmed.ts';
import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import { type Answer, type KeptWrite, renameOperation } from '../idempotency/kept-write.ts';
import { Problem } from '../problems/problem.ts';
import { changeAppointments, ehrChanges, findWrite, partId } from './ehr-changes.ts';
import { claimIntent, endIntent, type StoredIntent } from './intents.ts';
import { end, finish, type WriteScene } from './perform.ts';
import { holdsTime } from './plan.ts';
import type { WriteServices } from './services.ts';

/**
 * Finishes what an earlier request with the same key has begun: the EHR is told the same operation id again and does
 * nothing twice. `undefined`: nothing was begun. `anewAs`: what was begun has run out and was taken back, and the EHR
 * has to be told another operation id, which is the key's from now on.
 */
export async function resumeWrite(
  services: WriteServices,
  write: KeptWrite,
): Promise<Answer | { readonly anewAs: string } | undefined> {
  const intent = await claimIntent(services.db, services.keys, services.process, write.operationId);
  if (intent === undefined) return undefined;
  if (intent === 'busy') throw new Problem('idempotency_in_progress', { headers: { 'retry-after': '1' } });
  const scene = sceneOf(services, intent, write);
  if (!intent.hasRunOut) return finish(scene, intent.plan, intent.expiresAt);
  const anewAs = randomUUID();
  await takeBack(scene, intent, (tx) => renameOperation(tx, write, anewAs));
  return { anewAs };
}

/**
 * Ends a write that nobody asks for any more. What nobody was told of is finished, except a code that nobody was told
 * of: its holds are given up. Where the caller was told that the outcome is unknown, nothing new is begun: what the EHR
 * has done already is put on record, and what it has done in part is finished.
 */
export async function recoverWrite(services: WriteServices, intent: StoredIntent): Promise<void> {
  const { clientId, operationId, keyHash } = intent;
  const key = keyHash && { hash: keyHash, owner: services.process.id, keys: services.keys, isDone: false };
  const scene = sceneOf(services, intent, { operationId, clientId, key });
  await ownKey(services, intent);
  try {
    await recover(scene, intent);
  } finally {
    // Whatever has not become an answer is for a retry to find out, with whichever gateway.
    await openKey(services, intent);
  }
}

async function recover(scene: WriteScene, intent: StoredIntent): Promise<void> {
  const { plan, isTold, expiresAt } = intent;
  if (plan.confirmations.length > 0) {
    // A retry starts anew, under another operation id: the EHR has done this one.
    await takeBack(scene, intent, (tx) => forgetKey(tx, intent));
    return;
  }
  const done = isTold ? await findDone(scene, intent) : undefined;
  if (done && done !== 'in part') await end(scene, plan, done, expiresAt);
  else if (isTold && !done) await drop(scene, intent);
  else await finish(scene, plan, expiresAt);
}

function sceneOf(services: WriteServices, intent: StoredIntent, write: KeptWrite): WriteScene {
  const ehr = services.ehrs.get(intent.emr);
  const careUnit = ehr?.careUnits.get(intent.careUnitId);
  if (!ehr || !careUnit) throw new Error('A stored write is for an EHR or care unit that is not configured any more');
  return { services, ehr, careUnit, write };
}

function findDone({ ehr, careUnit, write }: WriteScene, { plan, expiresAt }: StoredIntent) {
  // Whether a code step was taken cannot be asked; what it began runs out by itself.
  if (plan.viaEhr) return Promise.resolve(null);
  const operationId = plan.ehrOperationId ?? write.operationId;
  return findWrite({ ehr, careUnit, operationId, changes: ehrChanges(plan, expiresAt) });
}

/** Gives up the holds of a write whose code was never told, and the write with them. */
async function takeBack(scene: WriteScene, intent: StoredIntent, settleKey: KeySettlement): Promise<void> {
  const { ehr, careUnit, write } = scene;
  const found = await findDone(scene, intent);
  const done = found === 'in part' ? await finishChanges(scene, intent) : found;
  if (done && holdsTime(intent.plan)) {
    const changes = heldBy(intent, done).map(({ id }) => ({ kind: 'release', appointmentId: id }) as const);
    const operationId = partId(write.operationId, 'taken back');
    if (changes.length > 0) await changeAppointments({ ehr, careUnit, operationId, changes });
  }
  await drop(scene, intent, settleKey);
}

/** What was broken off in between has to be whole before it can be told what to take back. */
function finishChanges({ ehr, careUnit, write }: WriteScene, { plan, expiresAt }: StoredIntent) {
  const operationId = plan.ehrOperationId ?? write.operationId;
  return changeAppointments({ ehr, careUnit, operationId, changes: ehrChanges(plan, expiresAt) });
}

function heldBy({ plan }: StoredIntent, done: readonly Appointment[]): Appointment[] {
  return plan.changes.flatMap((change, index) => {
    const appointment = done[index];
    return change.kind === 'create' && change.hold && appointment ? [appointment] : [];
  });
}

/** What becomes of the key of a write that is dropped. */
type KeySettlement = (tx: Tx) => Promise<void>;

/** In one transaction with the key: a retry must not find the key of a write that was taken back, and no write. */
async function drop({ services }: WriteScene, intent: StoredIntent, settleKey?: KeySettlement): Promise<void> {
  const { plan, emr, operationId } = intent;
  await retrySerialization(() =>
    services.db.transaction().execute(async (tx) => {
      if (!(await endIntent(tx, services.process, operationId))) return;
      await waitAgain(tx, emr, plan, []);
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
