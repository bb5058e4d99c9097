import { bookPath, holdPath, type OperationCall, type OperationForm, type Words } from '../booking/operations/form.ts';
import { actorParameter, commentParameter, proposals, range, visitTypes } from '../booking/operations/parameters.ts';
import type { BookingConnection } from '../connection.ts';
import type { FhirAppointment } from '../fhir.ts';

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
