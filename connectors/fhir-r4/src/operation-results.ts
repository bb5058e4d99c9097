import type { Appointment, CareUnit } from '@crossward/connector-kit';
import { unknownOutcome } from './booking/lost-race.ts';
import { withdraw } from './booking/withdraw.ts';
import type { FhirConnection } from './connection.ts';
import { compare, type FhirAppointment, type FhirSlot, referenceTo } from './fhir.ts';
import { keepsSlots, slotsOf, toAppointment } from './mappers/appointment.ts';
import { claimOf } from './mappers/slot.ts';
import { operationKeys, placesIn } from './operation-ids.ts';

/**
 * What a write with this operation id left behind, in its order. `null`: nothing.
 *
 * @throws ConnectorError `outcome_unknown` when the care unit knows no more who or where one of them is for
 */
export async function findOperation(
  ehr: FhirConnection,
  careUnit: CareUnit,
  operationId: string,
): Promise<readonly Appointment[] | null> {
  const found = await operationResults(ehr, operationId);
  if (found.length === 0) return null;
  const directory = await ehr.directory.of(careUnit);
  const mapped = found.flatMap((it) => toAppointment(it, directory, ehr.dialect, ehr.client.clock) ?? []);
  if (mapped.length < found.length) throw unknownOutcome();
  return mapped;
}

/**
 * What a write has left behind, each appointment once. A create that was still under way when another call with its
 * operation id took over can leave a second appointment on the slots, on a server that ignores `If-None-Exist`: the one
 * that the slots name is kept, or the first by id, and the other is taken back. The slots stay as they are.
 */
export async function operationResults(ehr: FhirConnection, operationId: string): Promise<FhirAppointment[]> {
  const found = await findOperationResources(ehr, operationId);
  if (ehr.mode !== 'slot_claim') return found;
  const now = ehr.client.clock.now();
  // Of a write with several changes each appointment has a place, and none is a second one.
  const isSingle = (it: FhirAppointment) => placesIn(it, ehr.dialect.operationSystem, operationId).length === 0;
  const living = found.filter((it) => keepsSlots(it, now) && isSingle(it));
  const [first, another] = living;
  if (!first || !another) return found;
  const slots = await ehr.client.readMany<FhirSlot>(living.flatMap(slotsOf));
  const named = new Set(slots.map((slot) => claimOf(slot)?.owner));
  const kept = living.find((it) => named.has(referenceTo(it))) ?? first;
  const twins = living.filter((it) => it !== kept && slotsOf(it).some((slot) => slotsOf(kept).includes(slot)));
  for (const twin of twins) await withdraw(ehr, referenceTo(twin));
  return found.filter((it) => !twins.includes(it));
}

/** An appointment that several changes of the write touched comes once for each. */
export async function findOperationResources(
  { client, dialect: { operationSystem } }: FhirConnection,
  operationId: string,
): Promise<FhirAppointment[]> {
  const matches = await client.search<FhirAppointment>('Appointment', [
    ['identifier', `${operationSystem}|${operationId}`],
  ]);
  // Some servers ignore a search parameter that they do not know.
  return matches
    .filter((it) => it.status !== 'entered-in-error' && operationKeys(it, operationSystem).includes(operationId))
    .flatMap((it) => {
      const places = placesIn(it, operationSystem, operationId);
      return (places.length > 0 ? places : [0]).map((place) => ({ it, place }));
    })
    .sort((a, b) => a.place - b.place || compare(a.it.id ?? '', b.it.id ?? ''))
    .map(({ it }) => it);
}
