import { type Appointment, batchedLookUps, type CareUnit, type Connector } from '@crossward/connector-kit';
import { readAppointments, toAppointments } from '../../appointments/reads.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { slotsOf } from '../../mappers/appointment.ts';
import { readGroupId } from '../../mappers/group.ts';
import { isFhirId } from '../../patients/patients.ts';
import { chunks } from '../../server/chunks.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { defaultPageSize } from '../../settings.ts';
import { recent } from '../recent.ts';

/** Appointments, with those of their slots that the same search returned. */
export interface ReadTogether {
  readonly appointments: readonly FhirAppointment[];
  readonly slots: readonly FhirSlot[];
}

export interface ReadAhead extends Required<Pick<Connector, 'findAppointments'>> {
  /** Returns the appointments and slots of the last read, once. `undefined` if one of them was not read recently. */
  take(appointmentIds: readonly string[]): ReadTogether | undefined;
}

interface Kept {
  readonly appointment: FhirAppointment;
  readonly slots: readonly FhirSlot[];
}

/**
 * Reads appointments together with their slots, and keeps both for the write that follows the gateway's look-up. The
 * write uses the versions that were read, so it fails if one of them has changed.
 *
 * @param includes whether the server returns the slots with the appointments: `_include=Appointment:slot`
 */
export function readAhead(ehr: BookingConnection, includes: boolean): ReadAhead {
  const kept = recent<Kept>();

  async function findAppointments(careUnit: CareUnit, ids: readonly string[]): Promise<readonly Appointment[]> {
    const [directory, { appointments, slots }] = await Promise.all([
      ehr.directory.of(careUnit),
      includes
        ? readWithSlots(ehr, ids)
        : readAppointments(ehr, ids).then((found) => ({ appointments: found, slots: [] })),
    ]);
    for (const appointment of appointments) {
      const own = slotsOf(appointment);
      kept.put(referenceTo(appointment), { appointment, slots: slots.filter((it) => own.includes(referenceTo(it))) });
    }
    return toAppointments(ehr, directory, appointments, ids);
  }

  return {
    // Without the slots, one appointment is read, not searched: on some servers, searches return older data.
    findAppointments: includes ? batchedLookUps(findAppointments, idsPerSearch) : findAppointments,
    take(ids) {
      // Each resource can be taken once, and several ids may name one.
      const wanted = resourceIds(ids);
      const found = wanted.flatMap((id) => kept.take(`Appointment/${id}`) ?? []);
      if (found.length < wanted.length) return undefined;
      return { appointments: found.map(({ appointment }) => appointment), slots: found.flatMap(({ slots }) => slots) };
    },
  };
}

function resourceIds(appointmentIds: readonly string[]): string[] {
  return [...new Set(appointmentIds.map((id) => readGroupId(id).id))];
}

const idsPerSearch = 50;

async function readWithSlots(ehr: BookingConnection, appointmentIds: readonly string[]): Promise<ReadTogether> {
  const ids = resourceIds(appointmentIds).filter(isFhirId);
  const found = new Map<string, FhirAppointment>();
  const slots = new Map<string, FhirSlot>();
  await Promise.all(
    chunks(ids, idsPerSearch).map(async (some) => {
      const parameters = [
        ['_id', some.join(',')],
        ['_include', 'Appointment:slot'],
        // HAPI counts the included slots too, and drops those above the count.
        ['_count', String(defaultPageSize)],
      ] as const;
      for await (const page of ehr.client.pages('Appointment', parameters, { few: true })) {
        for (const it of page.resources) found.set(it.id ?? '', it as FhirAppointment);
        for (const it of page.included) if (it.resourceType === 'Slot') slots.set(referenceTo(it), it as FhirSlot);
      }
    }),
  );
  // On some servers, searches return older data than reads.
  const missing = await readAppointments(
    ehr,
    ids.filter((id) => !found.has(id)),
  );
  const appointments = [...[...found].flatMap(([id, it]) => (ids.includes(id) ? it : [])), ...missing];
  return { appointments, slots: [...slots.values()] };
}
