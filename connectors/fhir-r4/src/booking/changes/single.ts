import type { AppointmentWrite } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import type { FhirAppointment, FhirSlot } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { offerIn } from '../../slots/offer.ts';
import { searchSlots } from '../../slots/search.ts';
import { slotPath } from '../../slots/slot-path.ts';
import { freeSlots } from '../../slots/slot-times.ts';
import type { PlannedAppointment } from '../write/appointment.ts';
import { timeTaken } from '../write/outcomes.ts';
import type { NeededTime } from './drafts.ts';
import { placedAppointment } from './new-appointment.ts';
import { readChanges } from './read.ts';
import { unavailableTime } from './unavailable-time.ts';

/** A write with one change, for a server that manages its Slots itself. */
export interface SingleChange extends PlannedAppointment {
  readonly directory: CareUnitDirectory;
  /** The time that the appointment needs. `undefined`: it keeps its own. */
  readonly needed: NeededTime | undefined;
}

/** A change whose appointment names the Slots that it takes. */
export interface ChangeOnSlots extends SingleChange {
  /** Empty: the appointment keeps its Slots. */
  readonly takes: readonly FhirSlot[];
}

/** @throws ConnectorError `time_slot_unavailable` for a time that has started */
export async function readSingleChange(ehr: BookingConnection, write: AppointmentWrite): Promise<SingleChange> {
  const { directory, drafts, neededTimes } = await readChanges(ehr, write);
  const [draft] = drafts;
  if (!draft) throw new RangeError('A write has at least one change');
  const [needed] = neededTimes;
  // The start of a slot is a time of day, so the gateway's clock decides.
  if (needed && needed.start.getTime() <= Date.now()) throw timeTaken();
  const { before, after, key } = draft;
  return { directory, before, after, key, needed };
}

/** @throws ConnectorError `time_slot_unavailable` when no free Slots cover the time */
export async function planOnSlots(ehr: BookingConnection, write: AppointmentWrite): Promise<ChangeOnSlots> {
  const change = await readSingleChange(ehr, write);
  const { directory, before, after, needed } = change;
  if (!needed) return { ...change, takes: [] };
  const takes = await findPath(ehr, directory, needed, before);
  return { ...change, takes, after: placedAppointment(after, takes, needed, needed.resourceId, directory) };
}

/** Free slots without a gap, from the start to the end of the time. The appointment's own slots count as free. */
async function findPath(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  { resourceId, serviceId, start, end }: NeededTime,
  before: FhirAppointment | null,
): Promise<readonly FhirSlot[]> {
  const anyService = serviceId === null;
  const found = await searchSlots(ehr, directory, directory.schedulesOf([resourceId]), {
    start,
    before: end,
    statuses: undefined,
    services: anyService ? undefined : [serviceId],
    moved: before?.id,
  });
  const free = await freeSlots(ehr, directory, found, before);
  const isOffered = (slot: FhirSlot) => {
    const offer = offerIn(directory, slot);
    return offer?.resourceId === resourceId && (anyService || offer.services.some(({ id }) => id === serviceId));
  };
  const path = slotPath(free.filter(isOffered), { start, end });
  if (!path) throw unavailableTime(found.filter(isOffered), { start, end });
  return path;
}
