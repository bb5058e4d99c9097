import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, referenceTo } from '../../../fhir.ts';
import { withComment } from '../../../mappers/appointment.ts';
import type { BookingConnection } from '../../../server/connection.ts';
import { appointmentOf, call } from '../../by-operations/call.ts';
import { isAt } from '../../by-operations/run.ts';
import type { NeededTime } from '../../changes/drafts.ts';
import type { SingleChange } from '../../changes/single.ts';
import { changeAppointment } from '../../write/appointment.ts';
import { afterWriting, LostRace, timeTaken } from '../../write/outcomes.ts';
import { findOpenTimes } from './open-times.ts';

/**
 * Moves a booked appointment by `$reschedule`, then writes its comment and operation id. If the second step fails, the
 * write is planned again. The appointment then already has the new time, so only the rest is written.
 */
export async function move(
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
  const written = keeps ? there : withComment(there, commentField, wanted);
  return afterWriting(() => changeAppointment(ehr, there, identifier ? { ...written, identifier } : written));
}
