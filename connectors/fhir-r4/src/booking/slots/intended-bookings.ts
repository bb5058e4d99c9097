import type { IntendedBooking } from '@crossward/connector-kit';
import type { FhirSlot } from '../../fhir.ts';
import type { FhirConnection } from '../../server/connection.ts';
import { slotsAt } from '../../slots/search.ts';
import type { WantedTime } from '../changes/drafts.ts';
import { recent } from '../recent.ts';

export interface IntendedBookings {
  /**
   * Starts to read the slots of a booking, while the gateway looks its patient up.
   *
   * @returns keeps what is read for the booking of this patient
   */
  read(booking: IntendedBooking): (patientId: string) => void;
  /** The slots that were read for this patient and time, once. `undefined`: they were not read, or not all. */
  take(patientId: string, wanted: WantedTime): Promise<readonly FhirSlot[] | undefined>;
}

interface Read {
  readonly resourceId: string;
  readonly slots: readonly FhirSlot[];
}

/**
 * Slots that are read at the same time as the patient. They are as fresh as those that the write would read itself: the
 * request that is to book them is in progress already. The write is under their versions.
 */
export function intendedBookings(ehr: FhirConnection): IntendedBookings {
  const kept = recent<Promise<Read | undefined>>();

  async function readSlots({ careUnit, resource, healthcareServiceId, start, end }: IntendedBooking) {
    const directory = await ehr.directory.of(careUnit);
    const { type, value } = resource;
    const found = directory.resources.find((it) =>
      it.identifiers.some((own) => own.type === type && own.value === value),
    );
    if (!found) return undefined;
    const wanted = { resourceId: found.id, serviceId: healthcareServiceId, start, end };
    return { resourceId: found.id, slots: await slotsAt(ehr, directory, wanted) };
  }

  return {
    read(booking) {
      // The write reads them again, and reports the failure if there still is one.
      const reading = readSlots(booking).catch(() => undefined);
      const { healthcareServiceId: serviceId, start, end } = booking;
      return (patientId) => kept.put(keyOf(patientId, { serviceId, start, end }), reading);
    },
    async take(patientId, wanted) {
      const read = await kept.take(keyOf(patientId, wanted));
      return read?.resourceId === wanted.resourceId ? read.slots : undefined;
    },
  };
}

function keyOf(patientId: string, { serviceId, start, end }: Omit<WantedTime, 'resourceId'>): string {
  return JSON.stringify([patientId, serviceId, start, end]);
}
