import type { AppointmentChanges, AppointmentChangesQuery, ChangedAppointment } from '@crossward/connector-kit';
import { completed } from '../appointments/completion.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import type { FhirAppointment } from '../fhir.ts';
import { isStartUnreadable, toAppointment } from '../mappers/appointment.ts';
import { patientViews } from '../mappers/group.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirClient } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRefusedQuestion } from '../server/outcome.ts';
import { defaultPageSize } from '../settings.ts';
import { openCursor, overlapMilliseconds } from './change-cursor.ts';
import { creationTimes, mostHistories, needsHistory } from './creation-times.ts';
import { type DeletedAppointment, listDeletions } from './deletions.ts';
import { readVersions, updatedAt } from './read-versions.ts';

/**
 * Appointments by `_lastUpdated`: https://hl7.org/fhir/R4/search.html#lastUpdated. Each call searches anew from its
 * position and uses the first page with anything new: an appointment that changes between two pages would move from one to
 * the other, and another one would be missed. That search does not find deleted Appointments, so those are read too, once
 * there is nothing else.
 *
 * @param source how the server reports deletions
 */
export async function listAppointmentChanges(
  ehr: FhirConnection,
  source: 'history' | 'search' | null,
  { careUnits, after, limit }: AppointmentChangesQuery,
): Promise<AppointmentChanges> {
  if (after === undefined) {
    const since = ehr.client.clock.now().getTime() - overlapMilliseconds;
    return { changes: [], next: JSON.stringify({ since, seen: [] }), hasMore: false };
  }
  const cursor = openCursor(after);
  const pages = ehr.client.pages('Appointment', [
    ['_lastUpdated', `ge${new Date(cursor.since).toISOString()}`],
    ['_sort', '_lastUpdated'],
    // Most of a page can be known from the overlap, so a small one would be read again and again.
    ['_count', String(Math.max(limit, defaultPageSize))],
  ]) as AsyncIterable<{ readonly resources: readonly FhirAppointment[]; readonly sorted: boolean }>;
  const { found, position, hasMore } = await readVersions(pages, cursor, ehr.client.clock.now().getTime(), {
    limited: { most: mostHistories, isCostly: (it) => source !== null && needsHistory(it) },
    leftOut: ({ id }) => ehr.leftOut({ type: 'Appointment', id, path: '/meta/lastUpdated' }),
  });
  const directories = await Promise.all(careUnits.map((careUnit) => ehr.directory.of(careUnit)));
  const { deletions } = cursor;
  if (hasMore || !source) {
    const next = JSON.stringify({ ...position, deletions });
    const created = await creationTimes(ehr.client, found, source !== null);
    return { ...(await shownOf(ehr, directories, found, created)), next, hasMore };
  }
  const deleted = await listDeletions(ehr.client, source, deletions ?? { since: cursor.since, seen: [] });
  return {
    changes: (await Promise.all(deleted.deleted.map((it) => cancellationsOf(ehr, directories, it)))).flat(),
    next: JSON.stringify({ ...position, deletions: deleted.position }),
    hasMore: deleted.hasMore,
  };
}

/** Whether the server searches by `_lastUpdated`. It is asked only if its CapabilityStatement leaves it in doubt. */
export async function findsChanges(client: FhirClient, facts: ServerFacts): Promise<boolean> {
  if (!facts.mayNotFindChanges) return true;
  const since = client.clock.now().toISOString();
  try {
    await client.search('Appointment', [['_lastUpdated', `ge${since}`]], { few: true });
    return true;
  } catch (error) {
    return !isRefusedQuestion(error);
  }
}

/** None if the appointment was cancelled or has ended: a server may delete what it does not need any more. */
async function cancellationsOf(
  ehr: FhirConnection,
  directories: readonly CareUnitDirectory[],
  { last, deletedAt }: DeletedAppointment,
): Promise<ChangedAppointment[]> {
  return (await changesOf(ehr, directories, last, { changedAt: deletedAt }))
    .filter(
      ({ appointment: { state, start, end } }) => state !== 'cancelled' && (end ?? start) > ehr.client.clock.now(),
    )
    .map(({ appointment, ...it }) => ({
      ...it,
      appointment: { ...appointment, state: 'cancelled', heldUntil: null },
    }));
}

/**
 * The appointments of these resources, and the ids of those that no care unit shows. One whose start cannot be read is neither:
 * it still exists.
 */
async function shownOf(
  ehr: FhirConnection,
  directories: readonly CareUnitDirectory[],
  found: readonly FhirAppointment[],
  created: ReadonlyMap<string, Date>,
): Promise<Required<Pick<AppointmentChanges, 'changes' | 'hidden'>>> {
  const readable = found.filter((it) => !isStartUnreadable(it));
  for (const { id } of found.filter(isStartUnreadable)) ehr.leftOut({ type: 'Appointment', id, path: '/start' });
  const each = await Promise.all(
    readable.map((it) => {
      const createdAt = created.get(it.id ?? '');
      const changedAt = new Date(updatedAt(it) ?? Number.NaN);
      return changesOf(ehr, directories, it, { changedAt, ...(createdAt ? { createdAt } : {}) });
    }),
  );
  const changes = each.flat();
  const shown = new Set(changes.map(({ appointment }) => appointment.id));
  const ids = readable.flatMap((it) => patientViews(it).map(({ id = '' }) => id));
  return { changes, hidden: ids.filter((id) => !shown.has(id)) };
}

async function changesOf(
  ehr: FhirConnection,
  directories: readonly CareUnitDirectory[],
  resource: FhirAppointment,
  times: Pick<ChangedAppointment, 'changedAt' | 'createdAt'>,
): Promise<ChangedAppointment[]> {
  const ofEach = directories.map(async (directory) => {
    const whole = await completed(ehr, directory, [resource]);
    return whole.flatMap(patientViews).flatMap((view): ChangedAppointment[] => {
      const appointment = toAppointment(view, directory, ehr.dialect, ehr.client.clock);
      return appointment ? [{ appointment, ...times }] : [];
    });
  });
  return (await Promise.all(ofEach)).flat();
}
