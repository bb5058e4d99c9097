import { slotsOf } from '../../../mappers/appointment.ts';
import { quietly } from '../../write/outcomes.ts';
import { bookPath, holdPath, type OperationForm } from '../form.ts';
import { findOpenTimes } from './open-times.ts';

/** https://www.medplum.com/docs/scheduling: `$book` of a proposal with added elements, and `$confirm` for a hold */
export const medplum: OperationForm = {
  takesAppointment: true,
  propose: async (ehr, wanted) => (await findOpenTimes(ehr, wanted.directory, wanted)).map(({ proposal }) => proposal),
  book: async (_, chosen) => ({ path: bookPath, parameter: [{ name: 'appointment', resource: chosen }] }),
  hold: {
    take: (chosen) => ({ path: holdPath, parameter: [{ name: 'appointment', resource: chosen }] }),
    confirm: async (_, { id }) => ({ path: `Appointment/${id}/$confirm`, parameter: [] }),
  },
  // `$cancel` ignores versions: it could cancel an appointment that has just been confirmed.
  cancel: null,
  /**
   * Removes the Slots, like Medplum's own `$cancel`: https://www.medplum.com/docs/scheduling/appointment-cancel. If it
   * is interrupted, a repeated cancellation removes the rest.
   */
  async afterCancel({ client }, appointment) {
    for (const slot of slotsOf(appointment)) await quietly(() => client.remove(slot));
  },
};
