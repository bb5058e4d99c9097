import type { Appointment, AppointmentQuery } from '@crossward/connector-kit';
import { appointmentsFor } from '@crossward/connector-kit/rest';
import type { At } from '../ehr.ts';
import { type Domain, equal } from '../rpc/client.ts';
import { recordId, recordIds } from '../rpc/values.ts';
import { careUnitNames, toAppointment } from './record.ts';
import { type AppointmentRow, overlapping, pagesByStart, searchAllRows, searchRows } from './rows.ts';
import { statesFor } from './states.ts';

export async function findAppointments(at: At, ids: readonly string[]): Promise<readonly Appointment[]> {
  const known = recordIds(ids);
  if (known.length === 0) return [];
  // One that is read alone and cannot be read is not gone.
  const search = known.length === 1 ? searchAllRows : searchRows;
  return shown(at, await search(at.client, [['id', 'in', known], ...equal({ institution: at.unit.institution })]));
}

async function shown(at: At, rows: readonly AppointmentRow[]): Promise<readonly Appointment[]> {
  const names = await careUnitNames(at, rows);
  return rows.flatMap((row) => toAppointment(at, names, row) ?? []);
}

export async function listAppointments(at: At, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { after, limit } = query;
  const domain = domainOf(at, query);
  if (!domain) return [];
  const found: Appointment[] = [];
  for await (const rows of pagesByStart(at.client, domain, after?.start)) {
    found.push(...appointmentsFor(await shown(at, rows), query));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** `undefined`: no appointment can match. */
function domainOf({ settings, unit }: At, query: AppointmentQuery): Domain | undefined {
  const { patientId, resourceId, range, states = [] } = query;
  const patient = patientId === undefined ? undefined : recordId(patientId);
  const healthprof = resourceId === undefined ? undefined : recordId(resourceId);
  if ((patientId !== undefined && !patient) || (resourceId !== undefined && !healthprof)) return undefined;
  const wanted = statesFor(states.length === 0 ? ['booked', 'cancelled'] : states);
  if (wanted.length === 0) return undefined;
  return [
    ...equal({ institution: unit.institution }),
    ['state', 'in', wanted],
    ['patient', patient === undefined ? '!=' : '=', patient ?? null],
    ...(healthprof === undefined ? [] : equal({ healthprof })),
    ['appointment_date', '!=', null],
    ...(range ? overlapping(range, settings) : []),
  ];
}
