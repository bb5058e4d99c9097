import type { Appointment } from '@crossward/connector-kit';
import { waitAgain } from '../confirmations/unconfirmed.ts';
import type { Answer, KeptWrite } from '../idempotency/kept-write.ts';
import { Problem } from '../problems/problem.ts';
import { changeAppointments, ehrChanges, findWrite, partId } from './ehr-changes.ts';
import { claimIntent, endIntent, type StoredIntent } from './intents.ts';
import { end, finish, type WriteScene } from './perform.ts';
import { holdsTime } from './plan.ts';
import type { WriteServices } from './services.ts';

/**
 * Finishes what an earlier request with the same key has begun: the EHR is told the same operation id again and does
 * nothing twice. `undefined`: nothing was begun. `'anew'`: what was begun has run out and was taken back, and the EHR
 * has to be told another operation id.
 */
export async function resumeWrite(services: WriteServices, write: KeptWrite): Promise<Answer | 'anew' | undefined> {
  const intent = await claimIntent(services.db, services.keys, services.process, write.operationId);
  if (intent === undefined) return undefined;
  if (intent === 'busy') throw new Problem('idempotency_in_progress', { headers: { 'retry-after': '1' } });
  const scene = sceneOf(services, intent, write);
  if (intent.hasRunOut) {
    await takeBack(scene, intent);
    return 'anew';
  }
  return finish(scene, intent.plan, intent.expiresAt);
}

/**
 * Ends a write that nobody asks for any more. What nobody was told of is finished, except a code that nobody was told
 * of: its holds are given up. Where the caller was told that the outcome is unknown, nothing new is done: only what the
 * EHR has done already is put on record.
 */
export async function recoverWrite(services: WriteServices, intent: StoredIntent): Promise<void> {
  const { plan, clientId, operationId, keyHash } = intent;
  const key = keyHash && { hash: keyHash, owner: services.process.id, keys: services.keys, isDone: false };
  const scene = sceneOf(services, intent, { operationId, clientId, key });
  if (keyHash) await ownKey(services, intent, keyHash);
  if (plan.confirmations.length > 0) {
    await takeBack(scene, intent);
    if (keyHash) await forgetKey(services, intent, keyHash);
    return;
  }
  if (!intent.isTold) {
    await finish(scene, plan, intent.expiresAt);
    return;
  }
  const done = await findDone(scene, intent);
  if (done) await end(scene, plan, done, intent.expiresAt);
  else await drop(scene, intent);
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
async function takeBack(scene: WriteScene, intent: StoredIntent): Promise<void> {
  const { ehr, careUnit, write } = scene;
  const done = await findDone(scene, intent);
  if (done && holdsTime(intent.plan)) {
    const changes = heldBy(intent, done).map(({ id }) => ({ kind: 'release', appointmentId: id }) as const);
    const operationId = partId(write.operationId, 'taken back');
    if (changes.length > 0) await changeAppointments({ ehr, careUnit, operationId, changes });
  }
  await drop(scene, intent);
}

function heldBy({ plan }: StoredIntent, done: readonly Appointment[]): Appointment[] {
  return plan.changes.flatMap((change, index) => {
    const appointment = done[index];
    return change.kind === 'create' && change.hold && appointment ? [appointment] : [];
  });
}

async function drop({ services }: WriteScene, { plan, emr, operationId }: StoredIntent): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    await endIntent(tx, services.process, operationId);
    await waitAgain(tx, emr, plan, []);
  });
}

async function ownKey(services: WriteServices, { clientId }: StoredIntent, keyHash: Buffer): Promise<void> {
  await services.db
    .updateTable('idempotency_keys')
    .set({ owner: services.process.id, state: 'running' })
    .where('client_id', '=', clientId)
    .where('key_hash', '=', keyHash)
    .where('state', '<>', 'done')
    .execute();
}

/** A retry starts anew. */
async function forgetKey(services: WriteServices, { clientId }: StoredIntent, keyHash: Buffer): Promise<void> {
  await services.db
    .deleteFrom('idempotency_keys')
    .where('client_id', '=', clientId)
    .where('key_hash', '=', keyHash)
    .where('state', '<>', 'done')
    .execute();
}
