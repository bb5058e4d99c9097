import type { Connector } from '@crossward/connector-kit';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientTokens } from '../secrets/patient-tokens.ts';
import { withSealedAppointmentIds } from './sealed-appointment-ids.ts';
import { withSealedPatients } from './sealed-patients.ts';

/** The connector of an EHR, with tokens in place of ids that name patients. */
export function sealedConnector(connector: Connector, keys: KeyRing, emr: string): Connector {
  const { passesThrough, appointmentIdsNamePatients } = connector.capabilities;
  const sealed = passesThrough ? withSealedPatients(connector, patientTokens(keys, emr)) : connector;
  return appointmentIdsNamePatients
    ? withSealedAppointmentIds(sealed, patientTokens(keys, emr, 'appointment of a patient'))
    : sealed;
}
