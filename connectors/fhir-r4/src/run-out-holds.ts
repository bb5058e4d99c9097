import { type AppointmentWrite, overlaps } from '@crossward/connector-kit';
import { quietly } from './booking/lost-race.ts';
import { giveUp } from './booking/operation-holds.ts';
import { chunks } from './client.ts';
import type { FhirConnection } from './connection.ts';
import type { CareUnitDirectory } from './directory.ts';
import type { FhirAppointment } from './fhir.ts';
import { appointmentTime, standingOf } from './mappers/appointment.ts';
import { defaultPageSize } from './settings.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

interface Stretch {
  /** `undefined`: every resource of the care unit. */
  readonly resourceIds: readonly string[] | undefined;
  readonly start: Date;
  readonly end: Date;
}

/** What the EHR still holds by `$hold` though its time is over: a hold of the EHR's own ends when the EHR likes. */
export async function runOutHolds(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { resourceIds, start, end }: Stretch,
): Promise<readonly FhirAppointment[]> {
  if (!ehr.holdsByOperation) return [];
  const ids = resourceIds ?? directory.resources.map(({ id }) => id);
  const actors = ids.flatMap((id) => directory.namesOf(id));
  const found = await Promise.all(
    chunks(actors, 20).map((some) =>
      ehr.client.search<FhirAppointment>('Appointment', [
        ['actor', some.join(',')],
        ['status', 'pending'],
        // The search parameter is the start. No appointment is taken to be longer than a day.
        ['date', `ge${new Date(start.getTime() - dayMilliseconds).toISOString()}`],
        ['date', `lt${end.toISOString()}`],
        ['_count', String(defaultPageSize)],
      ]),
    ),
  );
  const now = ehr.client.clock.now();
  return found.flat().filter((it) => {
    const time = appointmentTime(it);
    return standingOf(it, now).hasRunOut && time !== null && overlaps(time, { start, end });
  });
}

/** Ends the holds that stand in the way of what is to be booked though their time is over. */
export async function endRunOutHolds(ehr: FhirConnection, { careUnit, changes }: AppointmentWrite): Promise<void> {
  const { operationForm: form } = ehr;
  if (!form || !ehr.holdsByOperation) return;
  const directory = await ehr.directory.of(careUnit);
  for (const change of changes) {
    if (change.kind !== 'create') continue;
    const over = await runOutHolds(ehr, directory, { ...change, resourceIds: [change.resourceId] });
    // Whoever was faster has confirmed it or ended it: what is left is seen when it is booked.
    for (const held of over) await quietly(() => giveUp(ehr, form, held));
  }
}
