import { bookPath, type OperationForm } from '../by-operations/form.ts';
import { commentParameter, proposals, range } from '../by-operations/parameters.ts';

/** Epic's own names, from before R4: https://fhir.epic.com/Specifications (Appointment.$find, Appointment.$book, STU3) */
export const epic: OperationForm = {
  takesAppointment: false,
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'startTime', 'endTime'),
      ...(wanted.appointment.serviceType ?? []).map((type) => ({ name: 'service-type', valueCodeableConcept: type })),
    ]),
  book: async (_, { id = '' }, words) => ({
    path: bookPath,
    parameter: [
      { name: 'patient', valueIdentifier: { value: words.patient.slice('Patient/'.length) } },
      { name: 'appointment', valueIdentifier: { value: id } },
      ...commentParameter(words, 'appointmentNote'),
    ],
  }),
  hold: null,
  cancel: null,
};
