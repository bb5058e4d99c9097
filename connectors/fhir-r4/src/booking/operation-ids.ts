import type { FhirAppointment, FhirIdentifier } from '../fhir.ts';

/** The system of the identifiers that are operation ids. */
export const operationSystem = 'urn:crossward:operation';

/** How many operation ids an appointment keeps, besides the id of its creation. */
const remembered = 5;

/**
 * The identifiers that a write adds to each of its appointments: the operation id and, for a write with several changes,
 * one with the index of the change. Both have the same system, so one search finds either.
 */
export function operationIdentifiers(operationId: string, index: number, count: number): FhirIdentifier[] {
  const whole = { system: operationSystem, value: operationId };
  return count === 1 ? [whole] : [whole, { system: operationSystem, value: partKey(operationId, index) }];
}

/** The identifier that shows that a change has created its appointment. `ifNoneExist` searches for it. */
export function creationKey(operationId: string, index: number, count: number): string {
  return count === 1 ? operationId : partKey(operationId, index);
}

export function operationKeys(appointment: FhirAppointment): string[] {
  return (appointment.identifier ?? []).flatMap((it) => (it.system === operationSystem && it.value ? [it.value] : []));
}

/** Adds a write's identifiers and drops the oldest, except those of the creation. */
export function remember(appointment: FhirAppointment, fresh: readonly FhirIdentifier[]): FhirAppointment {
  const all = appointment.identifier ?? [];
  const others = all.filter((it) => it.system !== operationSystem);
  const values = new Set(fresh.map(({ value }) => value));
  const own = all.filter((it) => it.system === operationSystem && !values.has(it.value));
  const operations = [...new Set(own.map(({ value }) => operationOf(value)))];
  const kept = new Set([operations[0], ...operations.slice(-remembered)]);
  return {
    ...appointment,
    identifier: [...others, ...own.filter(({ value }) => kept.has(operationOf(value))), ...fresh],
  };
}

/** The indexes of the changes of a write that touched this appointment. */
export function placesIn(appointment: FhirAppointment, operationId: string): number[] {
  return operationKeys(appointment).flatMap((key) => {
    const [id, index] = key.split('.');
    return id === operationId && index !== undefined ? [Number(index)] : [];
  });
}

/** The operation identifier of one change of a write with several. */
export function partKey(operationId: string, index: number): string {
  return `${operationId}.${index}`;
}

function operationOf(value: string | undefined): string | undefined {
  return value?.split('.')[0];
}
