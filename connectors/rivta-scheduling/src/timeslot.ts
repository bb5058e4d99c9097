import type { Reading } from '@crossward/connector-kit/rest';
import { leaves, type NewElement, textOf, type XmlElement } from '@crossward/connector-kit/soap';
import Type, { type Static } from 'typebox';
import type { Period } from './local-time.ts';
import { core, coreExtension } from './producer.ts';
import { readTexts } from './records.ts';

const text = Type.String();
const optional = Type.Optional(text);

/** The texts of `TimeslotType`, in its order. */
const timeslotSchema = Type.Object({
  startTimeInclusive: optional,
  endTimeExclusive: optional,
  healthcare_facility: text,
  performer: optional,
  bookingId: optional,
  subject_of_care: optional,
  purpose: optional,
  reason: optional,
  resourceName: optional,
  healthcare_facility_name: optional,
  performerName: optional,
  resourceID: optional,
  timeTypeName: optional,
  timeTypeID: optional,
  careTypeName: optional,
  careTypeID: optional,
});
const names = Object.keys(timeslotSchema.properties) as (keyof Static<typeof timeslotSchema>)[];
const flags = ['cancel_booking_allowed', 'rebooking_allowed', 'message_allowed'] as const;

/** A free time or a booking, as the producer sent it. */
export interface Timeslot {
  readonly texts: Readonly<{ [Name in keyof Static<typeof timeslotSchema>]: string | undefined }>;
  /** The flags that are true. */
  readonly allows: ReadonlySet<(typeof flags)[number]>;
  readonly isInvitation: boolean;
}

/** A free time. */
export interface FreeSlot extends Timeslot, Period {}

/** The id of the service of a slot without a time type. */
export const untypedService = 'untyped';

export function readTimeslot(element: XmlElement): Reading<Timeslot> {
  const { record, path } = readTexts(element, core, timeslotSchema);
  if (!record) return { path };
  return {
    record: {
      texts: record as Timeslot['texts'],
      allows: new Set(flags.filter((name) => isTrue(textOf(element, core, name)))),
      isInvitation: isTrue(textOf(element, coreExtension, 'isInvitation')),
    },
  };
}

/** The id of a booking whatever else of it cannot be read. */
export function bookingIdIn(element: XmlElement): string | undefined {
  return textOf(element, core, 'bookingId');
}

/** https://www.w3.org/TR/xmlschema-2/#boolean */
export function isTrue(text: string | undefined): boolean {
  return text === 'true' || text === '1';
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
    content: leaves(core, Object.fromEntries(names.map((name) => [name, sent[name]]))),
  };
}
