import { bookPath, type OperationForm } from '../form.ts';

/**
 * `$book` of the whole appointment, `proposed`, without a proposal of the server. gematik ISiK Terminplanung, and the
 * other form of Argonaut: https://gematik.de/fhir/isik/OperationDefinition/AppointmentBook
 */
export const isik: OperationForm = {
  takesAppointment: true,
  propose: null,
  book: async (_, chosen) => ({
    path: bookPath,
    parameter: [{ name: 'appt-resource', resource: { ...chosen, status: 'proposed' } }],
  }),
  hold: null,
  cancel: null,
};
