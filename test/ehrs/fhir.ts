import type { RunningServer } from '../../connectors/fhir-r4/fake/http-server.ts';
import { type FhirAppointment, type FhirResource, type FhirSlot, typeOf } from '../../connectors/fhir-r4/src/fhir.ts';
import {
  actorsOf,
  appointmentTime,
  attendanceStatuses,
  patientIdOf,
  slotsOf,
  standingOf,
  withHold,
} from '../../connectors/fhir-r4/src/mappers/appointment.ts';
import { resourceId, resourceReference } from '../../connectors/fhir-r4/src/mappers/resource.ts';
import { claimedSlot, claimOf, freedSlot } from '../../connectors/fhir-r4/src/mappers/slot.ts';
import type { Ehr, EhrAppointment } from './ehr.ts';
import { slot } from './fhir-data.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** A FHIR server in this process, with its resources. */
export interface FhirServer extends RunningServer {
  read<R extends FhirResource>(reference: string): Promise<R>;
  all<R extends FhirResource>(type: string): Promise<readonly R[]>;
  save(resource: FhirResource): Promise<unknown>;
}

/** Starts a server with these resources. Servers with the same list share the set-up. */
export type FhirCounterpart = (resources: readonly FhirResource[]) => Promise<FhirServer>;

export interface FhirEhr extends Ehr {
  readonly server: FhirServer;
}

/** Direct access to an EHR through its FHIR resources. */
export function fhirEhr(server: FhirServer): FhirEhr {
  function ehrAppointment(appointment: FhirAppointment): EhrAppointment[] {
    const { id = '' } = appointment;
    const time = appointmentTime(appointment);
    const patientId = patientIdOf(appointment);
    const actors = actorsOf(appointment).filter((actor) => typeOf(actor) !== 'Patient');
    const [resource] = actors;
    if (!time || patientId === undefined || resource === undefined) return [];
    // The epoch as current time: no hold counts as expired.
    const { state, heldUntil } = standingOf(appointment, new Date(0));
    if (state === 'pending') throw new Error('An appointment is pending without a hold');
    return [{ id, patientId, resourceId: resourceId(resource), state, heldUntil, ...time }];
  }

  return {
    server,
    appointments: async () => (await server.all<FhirAppointment>('Appointment')).flatMap(ehrAppointment),
    async everything() {
      const slots = await server.all<FhirSlot>('Slot');
      return [await server.all('Appointment'), slots.filter(({ status }) => status !== 'free')];
    },
    async moveBack(appointmentId, days) {
      const earlier = (time = '') => new Date(Date.parse(time) - days * dayMilliseconds).toISOString();
      const moved = <R extends FhirAppointment | FhirSlot>(it: R): R => ({
        ...it,
        start: earlier(it.start),
        end: earlier(it.end),
      });
      const appointment = await server.read<FhirAppointment>(`Appointment/${appointmentId}`);
      for (const reference of slotsOf(appointment)) await server.save(moved(await server.read<FhirSlot>(reference)));
      await server.save(moved(appointment));
    },
    async comment(appointmentId, comment) {
      const appointment = await server.read<FhirAppointment>(`Appointment/${appointmentId}`);
      await server.save({ ...appointment, comment } as FhirAppointment);
    },
    async cancel(appointmentId) {
      const appointment = await server.read<FhirAppointment>(`Appointment/${appointmentId}`);
      await server.save({ ...appointment, status: 'cancelled' } as FhirAppointment);
      for (const taken of slotsOf(appointment)) await server.save(freedSlot(await server.read<FhirSlot>(taken)));
    },
    async attend(appointmentId, attendance) {
      const appointment = await server.read<FhirAppointment>(`Appointment/${appointmentId}`);
      await server.save({ ...appointment, status: attendanceStatuses[attendance] } as FhirAppointment);
    },
    async hold(appointmentId, until) {
      const reference = `Appointment/${appointmentId}`;
      const appointment = await server.read<FhirAppointment>(reference);
      await server.save(withHold({ ...appointment, status: 'pending' }, until));
      for (const taken of slotsOf(appointment)) {
        const held = await server.read<FhirSlot>(taken);
        await server.save(claimedSlot(held, 'busy-tentative', { owner: claimOf(held)?.owner ?? reference, until }));
      }
    },
    async openAroundTheClock(room, slotMinutes) {
      const [, id = ''] = resourceReference(room)?.split('/') ?? [];
      const length = slotMinutes * 60_000;
      const today = Math.floor(Date.now() / dayMilliseconds) * dayMilliseconds;
      for (let start = today; start < today + 12 * dayMilliseconds; start += length) {
        const time = { start: new Date(start), end: new Date(start + length) };
        await server.save(slot(id, time, ['consultation']));
      }
    },
  };
}
