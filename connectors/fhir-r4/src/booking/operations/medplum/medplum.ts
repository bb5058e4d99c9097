import { slotsOf } from '../../../mappers/appointment.ts';
import { quietly } from '../../write/outcomes.ts';
import { bookPath, holdPath, type OperationForm } from '../form.ts';
import { findOpenTimes } from './open-times.ts';

/** https://www.medplum.com/docs/scheduling: `$book` of a proposal with what we add to it, and `$confirm` for a hold */
export const medplum: OperationForm = {
  takesAppointment: true,
  propose: async (ehr, wanted) => (await findOpenTimes(ehr, wanted.directory, wanted)).map(({ proposal }) => proposal),
  book: async (_, chosen) => ({ path: bookPath, parameter: [{ name: 'appointment', resource: chosen }] }),
  hold: {
    take: (chosen) => ({ path: holdPath, parameter: [{ name: 'appointment', resource: chosen }] }),
    confirm: async (_, { id }) => ({ path: `Appointment/${id}/$confirm`, parameter: [] }),
  },
  // `$cancel` heeds no version: it could cancel what somebody else has just confirmed.
  cancel: null,
  /**
   * Removes the Slots, as Medplum's own `$cancel` does: https://www.medplum.com/docs/scheduling/appointment-cancel. If
   * this stops halfway, cancelling again removes the rest.
   */
  async afterCancel({ client }, appointment) {
    for (const slot of slotsOf(appointment)) await quietly(() => client.remove(slot));
  },
};
