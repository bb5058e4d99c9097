import { bookPath, type OperationForm } from '../by-operations/form.ts';

/**
 * Calls `$book` with the whole appointment in the status `proposed`; the server proposes none. gematik ISiK
 * Terminplanung, and the other form of Argonaut: https://gematik.de/fhir/isik/OperationDefinition/AppointmentBook
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
