import type { Connector, EhrHttp, LeftOutRecord, ProbeReport, TimeSlot } from '@crossward/connector-kit';
import { type ClockChange, connectorInProcess, plainHttp, type Subject } from '@crossward/connector-kit/conformance';
import type { Temporal } from 'temporal-polyfill';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { localNow, type Slot } from '../fake/calendar.ts';
import { north, patients, south, timeZone } from '../fake/data-set.ts';
import { type FakeProducer, startFake } from '../fake/server.ts';
import { rivtaSchedulingConnector } from '../src/connector.ts';
import type { CareUnitSettings, RivtaSettings } from '../src/settings.ts';

const careUnits = [
  { id: 'norr', timeZone },
  { id: 'soder', timeZone },
] as const;
export const [careUnit, otherCareUnit] = careUnits;

export const idOf = (number: string) => `se_personal_number:${number}`;

export function settingsFor(fake: Pick<FakeProducer, 'url'>, settings: Partial<RivtaSettings> = {}): RivtaSettings {
  return {
    url: fake.url,
    actor: { type: 'agent', hsa_id: 'SE2321000000-AGNT' },
    search_subject: patients.nobody,
    ...settings,
  };
}

export interface Opened {
  readonly http?: EhrHttp;
  readonly settings?: Partial<RivtaSettings>;
  /** Settings of both care units. */
  readonly units?: Partial<CareUnitSettings>;
  readonly now?: () => Date;
  readonly leftOut?: (record: LeftOutRecord) => void;
}

function contextFor(fake: Pick<FakeProducer, 'url'>, options: Opened) {
  const { http = plainHttp(), settings, units, now = () => new Date(), leftOut = () => undefined } = options;
  const facilities = [north, south];
  return {
    emr: 'rivta',
    settings: settingsFor(fake, settings),
    careUnits: careUnits.map((it, index) => ({
      ...it,
      settings: { healthcare_facility: facilities[index]?.hsaId, resources: undefined, ...units },
    })),
    http,
    now,
    leftOut,
  };
}

export function openConnector(fake: Pick<FakeProducer, 'url'>, options: Opened = {}): Promise<Connector> {
  return rivtaSchedulingConnector.open(contextFor(fake, options));
}

export async function probe(fake: Pick<FakeProducer, 'url'>, options: Opened = {}): Promise<ProbeReport> {
  const report = await rivtaSchedulingConnector.probe?.(contextFor(fake, options));
  if (!report) throw new Error('The connector has no probe');
  return report;
}

/** The connector over the fake producer, for the conformance kit. */
export async function rivtaSubject(name = 'rivta-scheduling', fakeOptions = {}): Promise<Subject> {
  const fake = await startFake(fakeOptions);
  const clockChanges = addClockChanges(fake);
  let http = plainHttp();
  const leftOut: LeftOutRecord[] = [];
  const open = () => openConnector(fake, { http, leftOut: (record) => void leftOut.push(record) });
  let connector = await open();
  const second = await connectorInProcess(new URL('./second.ts', import.meta.url), fake.url);
  const bookingOf = (id: string) => {
    const booking = fake.calendar.bookings.get(id.split('/')[2] ?? '');
    if (!booking) throw new Error('No such booking');
    return booking;
  };
  const slotAt = ({ start, resourceId }: TimeSlot) => {
    const at = localNow(start);
    const slot = fake.calendar.slots.find((it) => it.start === at && it.performer?.id === resourceId);
    if (!slot) throw new Error('No such slot');
    return slot;
  };
  return {
    name,
    get connector() {
      return connector;
    },
    careUnit,
    otherCareUnit,
    facts: {
      patient: [
        { type: 'emr_id', value: idOf(patients.first) },
        { type: 'se_personal_number', value: patients.first },
      ],
      otherPatientId: idOf(patients.second),
      resource: [
        { type: 'emr_id', value: 'SE2321000000-P001' },
        { type: 'hsa_id', value: 'SE2321000000-P001' },
      ],
      healthcareServiceId: 'besok',
      foreignResourceId: 'SE2321000000-P003',
      oneSlotOnly: true,
    },
    second,
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await open();
    },
    directChanges: {
      cancel: async ({ id }) => void fake.calendar.bookings.delete(bookingOf(id).id),
      comment: async ({ id }, text) => {
        bookingOf(id).reason = text;
      },
      move: async ({ id }, to) => {
        bookingOf(id).slot = slotAt(to);
      },
      async take(time) {
        const slot = slotAt(time);
        const { id } = fake.calendar.book(slot, patients.second, slot.timeTypes[0], undefined);
        return async () => void fake.calendar.bookings.delete(id);
      },
      overbook: async () => null,
    },
    // The contracts have no references to other systems.
    oddRecords: {
      leftOut,
      async breakAppointment({ id }) {
        const booking = bookingOf(id);
        const { slot } = booking;
        booking.slot = withoutTime(slot);
        return async () => {
          booking.slot = slot;
        };
      },
      async breakTimeSlot({ start, resourceId }) {
        const { slots } = fake.calendar;
        const at = slots.findIndex((it) => it.start === localNow(start) && it.performer?.id === resourceId);
        const slot = slots[at];
        if (!slot) throw new Error('No such slot');
        slots[at] = withoutTime(slot);
        return async () => {
          slots[at] = slot;
        };
      },
    },
    clockChanges,
    async close() {
      await second.close();
      await fake.close();
    },
  };
}

/** On the same day, at a time that no clock shows. */
function withoutTime(slot: Slot): Slot {
  return { ...slot, start: `${slot.start.slice(0, 8)}996199` };
}

/**
 * Free times through the nights of both clock changes. Starts in the hour that autumn repeats are not listed, because the
 * contracts cannot tell its two halves apart.
 */
function addClockChanges({ calendar }: FakeProducer): ClockChange[] {
  return (['spring', 'autumn'] as const).map((season) => {
    const { date, instant } = nextClockChange(timeZone, season);
    const start = date.subtract({ days: 1 }).toZonedDateTime({ timeZone, plainTime: '23:30' });
    const end = date.toZonedDateTime({ timeZone, plainTime: '06:00' });
    const count = (end.epochMilliseconds - start.epochMilliseconds) / 1_800_000;
    const starts = Array.from({ length: count }, (_, index) => start.add({ minutes: 30 * index }));
    const [performer] = north.performers;
    if (!performer) throw new Error('No performer');
    const resource = { id: `schema-${performer.id}`, name: performer.lastName };
    calendar.slots.push(
      ...starts.map((at): Slot => {
        // An end is written as the clock on the wall would go on: 02:00 in spring, when it goes on to 03:00.
        const [from, to] = [at.toPlainDateTime(), at.toPlainDateTime().add({ minutes: 30 })].map((it) =>
          it.toString({ smallestUnit: 'second' }).replaceAll(/\D/g, ''),
        );
        return { facility: north, performer, resource, start: from ?? '', end: to ?? '', timeTypes: north.timeTypes };
      }),
    );
    const isRepeated = (at: Temporal.ZonedDateTime) =>
      ['earlier', 'later'].some(
        (disambiguation) =>
          at.toPlainDateTime().toZonedDateTime(timeZone, { disambiguation: disambiguation as 'earlier' })
            .epochMilliseconds !== at.epochMilliseconds,
      );
    return {
      name: `the night in ${season}`,
      resourceId: performer.id,
      healthcareServiceId: 'besok',
      start: new Date(start.epochMilliseconds),
      end: new Date(end.epochMilliseconds),
      at: new Date(instant.epochMilliseconds),
      slotStarts: starts.filter((it) => !isRepeated(it)).map((it) => new Date(it.epochMilliseconds)),
    };
  });
}
