import type { CareUnitDirectory, Offer } from '../directory/directory.ts';
import type { FhirSlot } from '../fhir.ts';
import type { BookableService } from '../mappers/healthcare-service.ts';
import { slotTime } from '../mappers/slot.ts';

const minuteMilliseconds = 60_000;
/** A visit of one patient may take half a day, and a Slot a few lengths of the service. */
const sessionMinutes = 4 * 60;
const mostLengths = 4;

/**
 * Who can be booked in a Slot, and for which services. `null`: nobody, because the Slot is of another care unit, or is a time
 * of several patients, such as a day with a capacity. To book a part of such a Slot is to leave it free for others, and
 * then nothing on the server tells two bookings of one part from each other: a Slot is taken as a whole, under its version.
 */
export function offerIn(directory: CareUnitDirectory, slot: FhirSlot): Offer | null {
  const offer = directory.offerOf(slot);
  if (!offer || whySeveral(slot, offer) !== undefined) return null;
  return { ...offer, services: offer.services.filter((service) => !isSession(slot, service)) };
}

/** Where a Slot of this care unit says that it is a time of several patients. `undefined`: it is not. */
export function whySeveral(slot: FhirSlot, { services }: Offer): '/extension' | '/end' | undefined {
  if ((capacityOf(slot) ?? 1) !== 1) return '/extension';
  return services.length > 0 && services.every((service) => isSession(slot, service)) ? '/end' : undefined;
}

/**
 * Whether a Slot is so much longer than the service that it cannot be meant for one visit. Nobody can tell without the
 * duration of the service.
 */
function isSession(slot: FhirSlot, { durationMinutes }: BookableService): boolean {
  const time = slotTime(slot);
  if (!time || durationMinutes === null) return false;
  const minutes = (time.end.getTime() - time.start.getTime()) / minuteMilliseconds;
  return minutes >= sessionMinutes && minutes > mostLengths * durationMinutes;
}

/**
 * How many appointments there may be in a Slot, by the extensions of SMART Scheduling Links
 * (https://github.com/smart-on-fhir/smart-scheduling-links/blob/master/specification.md) and of Medplum.
 */
function capacityOf({ extension = [] }: FhirSlot): number | undefined {
  const found = extension.find(({ url }) => /\/(slot-capacity|SchedulingSlotCapacity)$/.test(url ?? ''));
  return found?.valueInteger ?? found?.valuePositiveInt ?? found?.valueUnsignedInt;
}
