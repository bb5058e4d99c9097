import type { CareUnit } from '@crossward/connector-kit';
import { type Period, periodOf, type RepeatedHour } from './local-time.ts';
import { core, coreExtension } from './producer.ts';
import { leaves, type NewElement, textOf, type XmlElement } from './xml.ts';

/** The texts of `TimeslotType`, in its order. */
const texts = [
  'startTimeInclusive',
  'endTimeExclusive',
  'healthcare_facility',
  'performer',
  'bookingId',
  'subject_of_care',
  'purpose',
  'reason',
  'resourceName',
  'healthcare_facility_name',
  'performerName',
  'resourceID',
  'timeTypeName',
  'timeTypeID',
  'careTypeName',
  'careTypeID',
] as const;
const flags = ['cancel_booking_allowed', 'rebooking_allowed', 'message_allowed'] as const;

/** A free time or a booking, as the producer sent it. */
export interface Timeslot {
  readonly texts: Readonly<Partial<Record<(typeof texts)[number], string | undefined>>>;
  /** The flags that are true. */
  readonly allows: ReadonlySet<(typeof flags)[number]>;
  readonly isInvitation: boolean;
}

/** A timeslot whose times are known. */
export interface TimedSlot extends Timeslot, Period {}

/** The id of the service of a slot without a time type. */
export const untypedService = 'untyped';

export function readTimeslot(element: XmlElement): Timeslot {
  const found = texts.flatMap((name) => {
    const text = textOf(element, core, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    texts: Object.fromEntries(found),
    allows: new Set(flags.filter((name) => isTrue(textOf(element, core, name)))),
    isInvitation: isTrue(textOf(element, coreExtension, 'isInvitation')),
  };
}

/** https://www.w3.org/TR/xmlschema-2/#boolean */
export function isTrue(text: string | undefined): boolean {
  return text === 'true' || text === '1';
}

/**
 * The slots with their instants. An open invitation has none and is left out, and so is what starts in the repeated hour if the
 * rule is to refuse it.
 *
 * @throws ConnectorError `rejected` for a time that does not exist
 */
export function withTimes(
  slots: readonly Timeslot[],
  { timeZone }: CareUnit,
  rule: RepeatedHour,
): readonly TimedSlot[] {
  return slots.flatMap((slot) => {
    const { startTimeInclusive, endTimeExclusive } = slot.texts;
    if (startTimeInclusive === undefined || endTimeExclusive === undefined) return [];
    const period = periodOf(startTimeInclusive, endTimeExclusive, timeZone, rule);
    return period ? [{ ...slot, ...period }] : [];
  });
}

/** The performer. Without one the producer's resource, and without both the unit itself. */
export function resourceIdOf({ texts: { performer, resourceID, healthcare_facility } }: Timeslot): string {
  return performer ?? resourceID ?? healthcare_facility ?? '';
}

export function serviceIdOf({ texts: { timeTypeID } }: Timeslot): string {
  return timeTypeID ?? untypedService;
}

/**
 * `requestedTimeslot`: the slot as it was received, without its flags.
 *
 * @param namespace that of the message
 */
export function requestedTimeslot(
  namespace: string,
  slot: Timeslot,
  {
    subject,
    bookingId,
    reason,
  }: { readonly subject: string; readonly bookingId?: string; readonly reason: string | null },
): NewElement {
  const sent = {
    ...slot.texts,
    bookingId: bookingId ?? slot.texts.bookingId,
    subject_of_care: subject,
    reason: reason ?? undefined,
  };
  return {
    namespace,
    name: 'requestedTimeslot',
    content: leaves(
      core,
      texts.map((name) => [name, sent[name]] as const),
    ),
  };
}
