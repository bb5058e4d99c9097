import type { FakeServer } from '../fake/server.ts';
import type { FhirAppointment, FhirSlot } from '../src/fhir.ts';
import { slotsOf, withHold } from '../src/mappers/appointment.ts';
import { claimedSlot, claimOf } from '../src/mappers/slot.ts';

/**
 * Lets a hold have run out a minute ago: whoever waits for it instead, waits for a machine that may be busy.
 *
 * @param clockAhead of the server, in milliseconds
 */
export function runOut({ store }: FakeServer, appointmentId: string, clockAhead = 0): { readonly slot: string } {
  const until = new Date(Date.now() + clockAhead - 60_000);
  const appointment = store.get(`Appointment/${appointmentId}`) as unknown as FhirAppointment;
  const [slot = ''] = slotsOf(appointment);
  const taken = store.get(slot) as unknown as FhirSlot;
  store.save(withHold(appointment, until) as never);
  store.save(claimedSlot(taken, 'busy-tentative', { owner: claimOf(taken)?.owner ?? '', until }) as never);
  return { slot };
}
