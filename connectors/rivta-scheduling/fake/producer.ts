import { type Booking, type Calendar, localNow, type Slot } from './calendar.ts';
import { facilities } from './data-set.ts';
import { core, messageNamespace, type Out, out, type Read } from './messages.ts';

/** What the producer's staff have set up. */
export interface Behaviour {
  /** Texts with which changes are done all the same. */
  info?: string | undefined;
  /** Refuses every change with this text. */
  refusal?: string | undefined;
  /** Free times as they were at this moment: times that are booked since then still show. */
  staleSlots?: ReadonlySet<Slot> | undefined;
  /** `false`: a booking does not keep the patient's words. */
  keepsReason?: boolean | undefined;
  /** A time type that is offered to one patient only. */
  ofOnePatient?: { readonly subject: string; readonly id: string; readonly name: string } | undefined;
}

/** A fault of the producer's own. */
export class Fault extends Error {
  readonly code: 'Client' | 'Server';
  constructor(code: 'Client' | 'Server', message: string) {
    super(message);
    this.code = code;
  }
}

type Answer = (body: Read) => readonly (Out | undefined)[];

/** The contracts over a calendar. An unknown unit has nothing, and is refused by changes. */
export function answersOf(calendar: Calendar, behaviour: Behaviour): Readonly<Record<string, Answer>> {
  const unitOf = ({ texts }: Read) => facilities.find(({ hsaId }) => hsaId === texts.healthcare_facility);
  const inMessage = (operation: string) => messageNamespace(operation);

  function result(operation: string, bookingId: string | undefined, text?: string): readonly (Out | undefined)[] {
    const namespace = inMessage(operation);
    const code = behaviour.info === undefined ? 'OK' : 'INFO';
    return [
      out(namespace, 'bookingId', operation === 'MakeBooking' ? bookingId : undefined),
      out(namespace, 'resultCode', text === undefined ? code : 'ERROR'),
      out(namespace, 'resultText', text ?? behaviour.info),
    ];
  }

  const refuse = (operation: string, text: string) => result(operation, undefined, behaviour.refusal ?? text);

  function free(slot: Slot): boolean {
    const isShown = behaviour.staleSlots?.has(slot) ?? !calendar.isTaken(slot);
    return isShown && slot.start > localNow();
  }

  /** The slot that a request names. Its time type is one that the slot has. */
  function wantedSlot({ texts }: Read, except?: Booking): Slot | undefined {
    return calendar.slots.find(
      (it) =>
        it.facility.hsaId === texts.healthcare_facility &&
        it.performer?.id === texts.performer &&
        it.resource.id === texts.resourceID &&
        it.start === texts.startTimeInclusive &&
        it.end === texts.endTimeExclusive &&
        !calendar.isTaken(it, except),
    );
  }

  return {
    GetAllTimeTypes(body) {
      const { ofOnePatient } = behaviour;
      const own = ofOnePatient && ofOnePatient.subject === body.texts.subject_of_care ? [ofOnePatient] : [];
      return [...(unitOf(body)?.timeTypes ?? []), ...own].map(({ id, name }) => ({
        namespace: inMessage('GetAllTimeTypes'),
        name: 'ListOfTimeTypes',
        content: [out(core, 'timeTypeName', name), out(core, 'timeTypeId', id)],
      }));
    },

    GetAllPerformers: (body) =>
      (unitOf(body)?.performers ?? []).map(({ id, firstName, lastName }) => ({
        namespace: inMessage('GetAllPerformers'),
        name: 'performerInfos',
        content: [out(core, 'perfomer', id), out(core, 'firstName', firstName), out(core, 'lastName', lastName)],
      })),

    GetAvailableTimeslots(body) {
      const { texts, lists } = body;
      const unit = unitOf(body);
      const { startDateInclusive: from = '', endDateInclusive: to = '' } = texts;
      const performers = lists.performer ?? [];
      if (performers.some((id) => !unit?.performers.some((it) => it.id === id)))
        throw new Fault('Server', 'Okänd utförare');
      const moved = calendar.bookings.get(texts.bookingId ?? '');
      const wantedType = moved ? moved.timeType?.id : texts.timeTypeID;
      return calendar.slots
        .filter((it) => it.facility === unit && it.start.slice(0, 8) >= from && it.start.slice(0, 8) <= to && free(it))
        .filter((it) => performers.length === 0 || performers.includes(it.performer?.id ?? ''))
        .filter((it) => moved === undefined || it.resource.id === moved.slot.resource.id)
        .flatMap((it) =>
          (it.timeTypes.length > 0 ? it.timeTypes : [undefined])
            .filter((type) => wantedType === undefined || type?.id === wantedType)
            .map((type) => detail('GetAvailableTimeslots', it, type)),
        );
    },

    GetBookingDetails({ texts }) {
      const booking = calendar.bookings.get(texts.bookingId ?? '');
      if (booking?.slot.facility.hsaId !== texts.healthcare_facility || !booking) {
        throw new Fault('Server', 'Bokningen finns inte');
      }
      return [detailOfBooking('GetBookingDetails', booking, true)];
    },

    GetSubjectOfCareSchedule({ texts }) {
      return [...calendar.bookings.values()]
        .filter((it) => it.subject === texts.subject_of_care && it.slot.facility.hsaId === texts.healthcare_facility)
        .map((it) => detailOfBooking('GetSubjectOfCareSchedule', it, false));
    },

    MakeBooking({ parts }) {
      const request = parts.requestedTimeslot as Read;
      const { subject_of_care: subject, timeTypeID, reason } = request.texts;
      const slot = wantedSlot(request);
      const type = slot?.timeTypes.find(({ id }) => id === timeTypeID);
      if (behaviour.refusal !== undefined) return refuse('MakeBooking', '');
      if (!slot || !subject || slot.start <= localNow()) return refuse('MakeBooking', 'Tiden är tyvärr redan bokad.');
      if (slot.timeTypes.length > 0 && !type) return refuse('MakeBooking', 'Okänd tidstyp.');
      return result('MakeBooking', calendar.book(slot, subject, type, kept(reason)).id);
    },

    UpdateBooking({ parts }) {
      const request = parts.requestedTimeslot as Read;
      const booking = calendar.bookings.get(request.texts.bookingId ?? '');
      if (!booking) return refuse('UpdateBooking', 'Bokningen finns inte.');
      if (!booking.allowsRebook || behaviour.refusal !== undefined)
        return refuse('UpdateBooking', 'Ombokning är inte tillåten.');
      const slot = wantedSlot(request, booking);
      if (!slot) return refuse('UpdateBooking', 'Tiden är tyvärr redan bokad.');
      booking.slot = slot;
      booking.reason = kept(request.texts.reason);
      return result('UpdateBooking', booking.id);
    },

    CancelBooking({ texts }) {
      const booking = calendar.bookings.get(texts.bookingId ?? '');
      if (!booking) return refuse('CancelBooking', 'Bokningen finns inte.');
      if (!booking.allowsCancel || behaviour.refusal !== undefined)
        return refuse('CancelBooking', 'Avbokning är inte tillåten.');
      calendar.bookings.delete(booking.id);
      if (texts.message !== undefined) calendar.messages.push(texts.message);
      return result('CancelBooking', booking.id);
    },
  };

  function kept(reason: string | undefined): string | undefined {
    return behaviour.keepsReason === false ? undefined : reason;
  }
}

function detailOfBooking(operation: string, booking: Booking, withFlags: boolean): Out {
  return detail(operation, booking.slot, booking.timeType, booking, withFlags);
}

function detail(operation: string, slot: Slot, type: Booking['timeType'], booking?: Booking, withFlags = false): Out {
  const { facility, performer, resource, start, end } = slot;
  return {
    namespace: messageNamespace(operation),
    name: 'timeslotDetail',
    content: [
      out(core, 'startTimeInclusive', start),
      out(core, 'endTimeExclusive', end),
      out(core, 'healthcare_facility', facility.hsaId),
      out(core, 'performer', performer?.id),
      out(core, 'bookingId', booking?.id),
      out(core, 'subject_of_care', booking?.subject),
      out(core, 'reason', booking?.reason),
      out(core, 'resourceName', resource.name),
      out(core, 'healthcare_facility_name', facility.name),
      out(core, 'performerName', performer && `${performer.firstName} ${performer.lastName}`),
      out(core, 'resourceID', resource.id),
      out(core, 'timeTypeName', type?.name),
      out(core, 'timeTypeID', type?.id),
      out(core, 'cancel_booking_allowed', withFlags ? booking?.allowsCancel : undefined),
      out(core, 'rebooking_allowed', withFlags ? booking?.allowsRebook : undefined),
      out(core, 'message_allowed', withFlags ? booking?.allowsMessage : undefined),
    ],
  };
}
