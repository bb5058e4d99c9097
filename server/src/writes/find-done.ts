import type { Appointment } from '@crossward/connector-kit';
import { isWhole, knowsOperations } from './ehr-changes.ts';
import { ehrWrite } from './ehr-write.ts';
import type { StoredIntent } from './intents.ts';
import { type DoneParts, findParts } from './one-by-one.ts';
import type { WriteScene } from './perform.ts';
import { findTraces } from './traces.ts';

/** `null`: it was not done. `'in part'`: it was broken off in between. `'not known'`: the EHR cannot be asked. */
type Found = readonly Appointment[] | 'in part' | 'not known' | null;

/** What a write left behind in the EHR. */
export async function findDone(scene: WriteScene, intent: StoredIntent): Promise<Found> {
  const { plan, expiresAt } = intent;
  const { ehr, careUnit, operationId } = ehrWrite(scene, plan, expiresAt);
  const isKnown = knowsOperations(ehr);
  // Whether a code step was taken cannot be asked; what it began runs out by itself.
  if (plan.viaEhr) return isKnown ? null : 'not known';
  if (isKnown && isWhole(ehr, plan.changes)) return ehr.call('findOperation', careUnit, operationId);
  const parts = await findDoneParts(scene, intent);
  if (parts.size === plan.changes.length) return plan.changes.map((_, index) => parts.get(index) as Appointment);
  if (!isKnown) return 'not known';
  return parts.size === 0 ? null : 'in part';
}

/** Which of the changes of a write were done, each by itself. */
export function findDoneParts(scene: WriteScene, intent: StoredIntent): Promise<DoneParts> {
  const write = ehrWrite(scene, intent.plan, intent.expiresAt);
  return knowsOperations(scene.ehr) ? findParts(write) : findTraces(scene.services, intent, write);
}
