import { slotsOf } from '../../../mappers/appointment.ts';
import { bookPath, holdPath, type OperationForm } from '../../by-operations/form.ts';
import { quietly } from '../../write/outcomes.ts';
import { move } from './move.ts';
import { findOpenTimes, proposedTimes } from './open-times.ts';

/**
 * Medplum's `$find`, `$hold`, `$book` of a proposal with added elements, `$confirm` for a hold, and `$reschedule`:
 * https://www.medplum.com/docs/scheduling. It computes free times and has no free Slots: a booking creates the Slots of an
 * appointment, and a cancellation removes them.
 */
export const medplum: OperationForm = {
  takesAppointment: true,
  keepsOperationIds: true,
  computed: { freeTimes: proposedTimes, move },
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
