import type { FhirAppointment } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import type { ChangeOnSlots } from '../changes/single.ts';
import { changeAppointment, writeAppointment } from './appointment.ts';
import { areFree, settled } from './settle.ts';

/** Creates or changes the Appointment, and lets the server check its Slots. */
export async function runCheckedWrite(ehr: BookingConnection, change: ChangeOnSlots): Promise<FhirAppointment> {
  const { before, after, takes } = change;
  // It is cancelled already.
  if (before && after === before) return before;
  const isOpen = takes.length > 0 ? () => areFree(ehr, takes) : undefined;
  const work = () => (before ? changeAppointment(ehr, before, after) : writeAppointment(ehr, change));
  return settled(ehr, change, work, isOpen);
}
