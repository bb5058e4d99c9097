import type { FhirAppointment } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { bookPath, holdPath, type OperationCall, type OperationForm, type Words } from '../by-operations/form.ts';
import { actorParameter, commentParameter, proposals, range, visitTypes } from '../by-operations/parameters.ts';

/** https://fhir.org/guides/argonaut/scheduling/ */
export const argonaut: OperationForm = {
  takesAppointment: false,
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'start', 'end'),
      ...actorParameter(wanted, (valueUri) => ({ valueUri })),
      ...visitTypes(wanted),
      { name: 'patient-reference', valueUri: wanted.patient },
    ]),
  book: bookById,
  hold: {
    take: ({ id }) => ({ path: holdPath, parameter: [{ name: 'appt-id', valueUri: `Appointment/${id}` }] }),
    confirm: bookById,
  },
  cancel: null,
};

async function bookById(_: BookingConnection, { id }: FhirAppointment, words: Words): Promise<OperationCall> {
  return {
    path: bookPath,
    parameter: [
      { name: 'appt-id', valueUri: `Appointment/${id}` },
      { name: 'patient-id', valueUri: words.patient },
      ...commentParameter(words, 'comment'),
    ],
  };
}
