import type { FakeServer } from '../fake/server.ts';
import type { FhirAppointment, FhirSlot } from '../src/fhir.ts';
import { slotsOf, withHold } from '../src/mappers/appointment.ts';
import { claimedSlot, claimOf } from '../src/mappers/slot.ts';

/**
 * Makes a hold expired a minute ago, so that no test has to wait for it. Returns the reference of its slot.
 *
 * @param clockAhead How far the server's clock is ahead, in milliseconds.
 */
export function expireHold({ store }: FakeServer, appointmentId: string, clockAhead = 0): { readonly slot: string } {
  const until = new Date(Date.now() + clockAhead - 60_000);
  const appointment = store.get(`Appointment/${appointmentId}`) as unknown as FhirAppointment;
  const [slot = ''] = slotsOf(appointment);
  const held = store.get(slot) as unknown as FhirSlot;
  store.save(withHold(appointment, until));
  store.save(claimedSlot(held, 'busy-tentative', { owner: claimOf(held)?.owner ?? '', until }));
  return { slot };
}
