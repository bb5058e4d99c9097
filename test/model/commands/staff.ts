import fc from 'fast-check';
import { pick } from '../inputs.ts';
import { pendingView } from '../model.ts';
import { picked, steps } from '../step.ts';

const input = fc.record({ target: pick('booked'), change: fc.constantFrom('comment', 'cancel') });

/** Staff change an appointment directly in the EHR. */
export const staffChanges = steps('staff', input, async ({ target, change }, model, real) => {
  const id = picked(model, target);
  const booking = model.entries.get(id);
  if (booking?.kind !== 'booking' || booking.state !== 'booked' || pendingView(model, booking)) {
    return `staff does not change ${id}`;
  }
  if (change === 'comment') {
    await real.staff.comment(real.id(id), 'by staff');
    booking.comment = 'by staff';
  } else {
    await real.staff.cancel(real.id(id));
    booking.state = 'cancelled';
  }
  return `staff: ${change} ${id}`;
});
