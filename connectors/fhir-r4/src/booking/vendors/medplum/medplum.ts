import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, referenceTo } from '../../../fhir.ts';
import { slotsOf, withComment } from '../../../mappers/appointment.ts';
import type { BookingConnection } from '../../../server/connection.ts';
import { appointmentOf, call } from '../../by-operations/calls.ts';
import { bookPath, holdPath, type OperationForm } from '../../by-operations/form.ts';
import { isAt } from '../../by-operations/run.ts';
import type { NeededTime } from '../../changes/drafts.ts';
import type { SingleChange } from '../../changes/single.ts';
import { changeAppointment } from '../../write/appointment.ts';
import { afterWriting, LostRace, quietly, timeTaken } from '../../write/outcomes.ts';
import { findOpenTimes, proposedTimes } from './open-times.ts';

/**
 * Medplum's `$find`, `$hold`, `$book` of a proposal with added elements, `$confirm` for a hold, and `$reschedule`:
 * https://www.medplum.com/docs/scheduling. It computes free times and has no free Slots: a booking creates the Slots of an
 * appointment, and a cancellation removes them.
 */
export const medplum: OperationForm = {
  takesAppointment: true,
  keepsOperationIds: true,
  computed: { freeTimes: proposedTimes, move },
  propose: async (ehr, wanted) => (await findOpenTimes(ehr, wanted.directory, wanted)).map(({ proposal }) => proposal),
  book: async (_, chosen) => ({ path: bookPath, parameter: [{ name: 'appointment', resource: chosen }] }),
  hold: {
    take: (chosen) => ({ path: holdPath, parameter: [{ name: 'appointment', resource: chosen }] }),
    confirm: async (_, { id }) => ({ path: `Appointment/${id}/$confirm`, parameter: [] }),
  },
  // `$cancel` ignores versions: it could cancel an appointment that has just been confirmed.
  cancel: null,
  /**
   * Removes the Slots, like Medplum's own `$cancel`: https://www.medplum.com/docs/scheduling/appointment-cancel. If it
   * is interrupted, a repeated cancellation removes the rest.
   */
  async afterCancel({ client }, appointment) {
    for (const slot of slotsOf(appointment)) await quietly(() => client.remove(slot));
  },
};

/**
 * Moves a booked appointment by `$reschedule`, then writes its comment and operation id. If the second step fails, the
 * write is planned again. The appointment then already has the new time, so only the rest is written.
 */
async function move(
  ehr: BookingConnection,
  { after, directory }: SingleChange,
  before: FhirAppointment,
  needed: NeededTime,
): Promise<FhirAppointment> {
  const question = { ...needed, ignoring: referenceTo(before) };
  const findOpen = async () =>
    (await findOpenTimes(ehr, directory, question)).find(({ proposal }) => isAt(proposal, needed));
  const open = await findOpen();
  if (!open) throw timeTaken();
  const reschedule = {
    path: `${referenceTo(before)}/$reschedule`,
    parameter: [
      { name: 'start', valueDateTime: needed.start.toISOString() },
      { name: 'schedule', valueReference: { reference: open.schedule } },
    ],
  };
  const moved = await call(ehr, reschedule).catch(async (error: unknown) => {
    if (!(error instanceof ConnectorError) || error.kind !== 'rejected') throw error;
    const current = await ehr.client.read<FhirAppointment>(referenceTo(before));
    if (current?.meta?.versionId !== before.meta?.versionId) throw new LostRace();
    throw (await findOpen()) ? error : timeTaken();
  });
  const there = await appointmentOf(ehr, moved);
  const { commentField } = ehr.dialect;
  const { identifier } = after;
  const wanted = after[commentField] ?? null;
  // Staff may have written one since the appointment was read.
  const keeps = wanted === (before[commentField] ?? null);
  const written = keeps ? there : withComment(there, ehr.dialect, wanted);
  return afterWriting(() => changeAppointment(ehr, there, identifier ? { ...written, identifier } : written));
}
