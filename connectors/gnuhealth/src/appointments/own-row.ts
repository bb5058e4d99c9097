import { type CareUnit, ConnectorError } from '@crossward/connector-kit';
import type { Ehr } from '../ehr.ts';
import { recordId } from '../rpc/values.ts';
import { careUnitNames } from './care-unit-names.ts';
import { dated, searchAllRows, toAppointment } from './record.ts';

/** @throws ConnectorError `appointment_not_found` */
export async function appointmentRow(ehr: Ehr, careUnit: CareUnit, appointmentId: string) {
  const id = recordId(appointmentId);
  const institution = ehr.directory.institutionOf(careUnit);
  const [row] =
    id === undefined
      ? []
      : await searchAllRows(ehr.rpc, [
          ['id', '=', id],
          ['institution', '=', institution],
        ]);
  const found = row && dated(row, ehr.settings);
  const appointment = found && toAppointment(found, await careUnitNames(ehr, careUnit, [found]), ehr.settings);
  if (!found || !appointment || found.patient === null) {
    throw new ConnectorError('appointment_not_found', 'The care unit has no such appointment');
  }
  return { row: found, appointment, patient: found.patient };
}
