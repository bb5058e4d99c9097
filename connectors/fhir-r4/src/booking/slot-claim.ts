import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';
import type { WriteAnswer } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import { compare, type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { slotsOf } from '../mappers/appointment.ts';
import { claimedSlot, claimOf } from '../mappers/slot.ts';
import { operationKeys } from '../operation-ids.ts';
import { findOperationResources, operationResults } from '../operation-results.ts';
import { writeAppointment } from './appointment-change.ts';
import { afterWriting, isBroken, isConflict, isUnknown, LostRace, quietly, unknownOutcome } from './lost-race.ts';
import type { PlannedSlot } from './place.ts';
import type { Plan, PlannedAppointment } from './plan.ts';
import { versionOf } from './version.ts';

/** How long a slot stays claimed by a write that broke off. Then its owner's appointment tells whether it is taken. */
const claimMilliseconds = 120_000;
const creationAttempts = 10;

interface Claimed {
  readonly slot: PlannedSlot;
  readonly current: FhirSlot;
}

/** How often, and after how many milliseconds, it is looked whether whoever took over has finished. */
const looks = 20;
const lookMilliseconds = 100;

/**
 * One step after the other, for a server without transactions: every slot is claimed by a PUT under the version that
 * was read, so that one of any number of callers gets it; then the appointment is written; then the slots get their
 * last state, which names the appointment. Wherever it breaks off, an expired claim and its owner's appointment tell
 * whether a slot is taken.
 *
 * @throws LostRace when somebody else was faster
 */
export async function runSlotClaims(ehr: FhirConnection, plan: Plan): Promise<readonly FhirAppointment[]> {
  const claimed: Claimed[] = [];
  const results: FhirAppointment[] = [];
  const takesOver = plan.appointments.some(
    ({ before, key }) => before === null && plan.slots.some((slot) => isClaimedBy(slot.before, key)),
  );
  try {
    // In one order for everybody: of two that want the same slots, one gets them all.
    for (const slot of plan.slots.toSorted((a, b) => compare(referenceTo(a.before), referenceTo(b.before)))) {
      claimed.push({ slot, current: await claim(ehr, slot) });
    }
    for (const appointment of plan.appointments) results.push(await write(ehr, appointment, takesOver));
  } catch (error) {
    // Of an unknown outcome the claims stay: the appointment may be there.
    if (!isUnknown(error)) for (const it of claimed) await giveBack(ehr, it);
    throw error;
  }
  let wasTakenOver = false;
  for (const { slot, current } of claimed) {
    const last = naming(slot, plan, results);
    if (isSame(last, current)) continue;
    await quietly(async () => {
      await put(ehr, last, versionOf(current)).catch((error: unknown) => {
        wasTakenOver ||= error instanceof LostRace;
        throw error;
      });
    });
  }
  for (const { before, after } of plan.swept) await quietly(() => put(ehr, after, versionOf(before)));
  if (!takesOver && !wasTakenOver) return results;
  return afterWriting(() =>
    Promise.all(results.map((made, index) => keptOf(ehr, plan.appointments[index] as PlannedAppointment, made))),
  );
}

/** A slot's last state, with the appointment that was made for it instead of the write that made it. */
function naming({ after, owner }: PlannedSlot, { appointments }: Plan, results: readonly FhirAppointment[]): FhirSlot {
  const made = results[appointments.findIndex(({ before, key }) => before === null && key === owner)];
  const claim = claimOf(after);
  if (!made || !claim || (after.status !== 'busy' && after.status !== 'busy-tentative')) return after;
  return claimedSlot(after, after.status, { ...claim, owner: referenceTo(made) });
}

/**
 * Two calls with one operation id may both have made an appointment. The one that has the slots names its own on them:
 * that is waited for, and both answer the same.
 */
async function keptOf(
  ehr: FhirConnection,
  { before, key }: PlannedAppointment,
  made: FhirAppointment,
): Promise<FhirAppointment> {
  if (before !== null || !ehr.operationLookup) return made;
  for (let look = 1; look <= looks; look++) {
    const slots = await ehr.client.readMany<FhirSlot>(slotsOf(made));
    if (!slots.some((slot) => isClaimedBy(slot, key))) break;
    await pause(lookMilliseconds);
  }
  return (await operationResults(ehr, key))[0] ?? made;
}

function isClaimedBy(slot: FhirSlot, owner: string): boolean {
  return slot.status === 'busy-tentative' && claimOf(slot)?.owner === owner;
}

async function claim(ehr: FhirConnection, { before, after, owner }: PlannedSlot): Promise<FhirSlot> {
  const until = new Date(ehr.client.clock.now().getTime() + claimMilliseconds);
  // A hold is already as it shall be.
  const wanted = after.status === 'busy-tentative' ? after : claimedSlot(before, 'busy-tentative', { owner, until });
  for (let attempt = 1; ; attempt++) {
    try {
      return await put(ehr, wanted, versionOf(before));
    } catch (error) {
      if (!(error instanceof LostRace) && !isUnknown(error)) throw error;
      const current = await ehr.client.read<FhirSlot>(referenceTo(before));
      if (current && isSame(wanted, current)) return current;
      const isUntouched = current?.meta?.versionId === before.meta?.versionId;
      if (error instanceof LostRace || !isUntouched) throw new LostRace();
      if (attempt === 3) throw unknownOutcome(error);
    }
  }
}

/** A lost claim answers 412, or 409, or 400 on some servers. */
async function put<R extends FhirSlot | FhirAppointment>(
  ehr: FhirConnection,
  resource: R,
  version: string,
): Promise<R> {
  const answer = await ehr.client.update(resource, { ifMatch: version });
  if (answer.ok) return written(ehr, resource, answer);
  if (isConflict(answer.status)) throw new LostRace();
  if (isBroken(answer.status)) throw unknownOutcome(answer.refusal);
  const current = await ehr.client.read(referenceTo(resource));
  if (current?.meta?.versionId !== version) throw new LostRace();
  throw answer.refusal ?? new ConnectorError('rejected', `The EHR answered ${answer.status}`);
}

async function written<R extends FhirSlot | FhirAppointment>(
  ehr: FhirConnection,
  resource: R,
  { resource: answered, version }: WriteAnswer,
): Promise<R> {
  if (answered?.resourceType === resource.resourceType && answered.meta?.versionId) return answered as R;
  if (version !== undefined) return { ...resource, meta: { ...resource.meta, versionId: version } };
  return (await afterWriting(() => ehr.client.read<R>(referenceTo(resource)))) ?? resource;
}

async function write(ehr: FhirConnection, planned: PlannedAppointment, takesOver: boolean): Promise<FhirAppointment> {
  // What the call before this one began may have been done since it was looked for.
  const done = takesOver ? await readBack(ehr, planned) : null;
  if (done) return done;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeAppointment(ehr, planned);
    } catch (error) {
      // The slots are ours: it was another creation, of any other time, that this one met in a serializable database.
      if (error instanceof LostRace && planned.before === null && attempt < creationAttempts) {
        await pause(Math.random() * 40 * attempt);
        continue;
      }
      if (!isUnknown(error)) throw error;
      const done = await afterWriting(() => readBack(ehr, planned));
      if (done) return done;
      throw error;
    }
  }
}

/** What became of a write that was not answered. `null`: asking did not show that it was done. */
async function readBack(ehr: FhirConnection, { before, key }: PlannedAppointment): Promise<FhirAppointment | null> {
  const { operationSystem } = ehr.dialect;
  if (!ehr.operationLookup) return null;
  if (before === null) return (await findOperationResources(ehr, key))[0] ?? null;
  const current = await ehr.client.read<FhirAppointment>(referenceTo(before));
  return current && operationKeys(current, operationSystem).includes(key) ? current : null;
}

async function giveBack(ehr: FhirConnection, { slot, current }: Claimed): Promise<void> {
  await quietly(() => put(ehr, slot.before, versionOf(current)));
}

function isSame(a: FhirSlot, b: FhirSlot): boolean {
  const [one, other] = [claimOf(a), claimOf(b)];
  return a.status === b.status && one?.owner === other?.owner && one?.until?.getTime() === other?.until?.getTime();
}
