import { ConnectorError } from '@crossward/connector-kit';
import type { FhirAppointment, FhirResource, Parameter } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { bookPath, holdPath, type OperationCall, type OperationForm, type Words } from '../by-operations/form.ts';
import { actorParameter, commentParameter, proposals, range, visitTypes } from '../by-operations/parameters.ts';

/** https://profiles.ihe.net/ITI/Scheduling/ (ITI-115, ITI-116, ITI-117) */
export const ihe: OperationForm = {
  takesAppointment: false,
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'start', 'end'),
      ...actorParameter(wanted, (reference) => ({ valueReference: { reference } })),
      ...visitTypes(wanted),
      { name: 'patient-reference', valueReference: { reference: wanted.patient } },
    ]),
  book: bookByReference,
  hold: {
    take: (chosen) => ({ path: holdPath, parameter: [appointmentReference(chosen)] }),
    confirm: bookByReference,
  },
  // `$book` can move an appointment too, but ignores versions: it would overwrite changes by others.
  cancel: (cancelled) => ({ path: bookPath, parameter: [{ name: 'appointment-resource', resource: cancelled }] }),
};

async function bookByReference(ehr: BookingConnection, chosen: FhirAppointment, words: Words): Promise<OperationCall> {
  const patient = await ehr.client.read<FhirResource>(words.patient);
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  const parameter = [appointmentReference(chosen), { name: 'patient-resource', resource: patient }];
  return { path: bookPath, parameter: [...parameter, ...commentParameter(words, 'comment')] };
}

function appointmentReference({ id }: FhirAppointment): Parameter {
  return { name: 'appointment-reference', valueReference: { reference: `Appointment/${id}` } };
}
