import type { Appointment, AppointmentQuery, CareUnit } from '@crossward/connector-kit';
import { appointmentsFor } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import type { Domain } from '../rpc/client.ts';
import { recordId, recordIds } from '../rpc/values.ts';
import { careUnitNames } from './care-unit-names.ts';
import { pagesByStart } from './pages.ts';
import { searchAllRows, searchRows, statesFor, toAppointment } from './record.ts';
import { overlapping } from './times.ts';

export async function findAppointments(
  ehr: Ehr,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const { rpc, settings, directory } = ehr;
  const known = recordIds(ids);
  if (known.length === 0) return [];
  const institution = directory.institutionOf(careUnit);
  // One that is read alone and cannot be read is not gone.
  const search = known.length === 1 ? searchAllRows : searchRows;
  const rows = await search(rpc, [
    ['id', 'in', known],
    ['institution', '=', institution],
  ]);
  const names = await careUnitNames(ehr, careUnit, rows);
  return rows.flatMap((row) => toAppointment(row, names, settings) ?? []);
}

export async function listAppointments(ehr: Ehr, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { careUnit, after, limit } = query;
  const domain = domainOf(ehr, query);
  if (!domain) return [];
  const found: Appointment[] = [];
  for await (const rows of pagesByStart(ehr.rpc, domain, after?.start)) {
    const names = await careUnitNames(ehr, careUnit, rows);
    found.push(
      ...appointmentsFor(
        rows.flatMap((row) => toAppointment(row, names, ehr.settings) ?? []),
        query,
      ),
    );
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** `undefined`: no appointment can match. */
function domainOf({ directory, settings }: Ehr, query: AppointmentQuery): Domain | undefined {
  const { careUnit, patientId, resourceId, range, states = [] } = query;
  const patient = patientId === undefined ? undefined : recordId(patientId);
  const professional = resourceId === undefined ? undefined : recordId(resourceId);
  if ((patientId !== undefined && patient === undefined) || (resourceId !== undefined && professional === undefined)) {
    return undefined;
  }
  const wanted = statesFor(states.length === 0 ? ['booked', 'cancelled'] : states);
  if (wanted.length === 0) return undefined;
  return [
    ['institution', '=', directory.institutionOf(careUnit)],
    ['state', 'in', wanted],
    ['patient', patient === undefined ? '!=' : '=', patient ?? null],
    ...(professional === undefined ? [] : [['healthprof', '=', professional]]),
    ['appointment_date', '!=', null],
    ...(range ? overlapping(range, settings) : []),
  ];
}
