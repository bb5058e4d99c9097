import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Appointment,
  ConfiguredCareUnit,
  Connector,
  ConnectorContext,
  DirectChanges,
  EhrHttp,
  InTurn,
  LeftOutRecord,
} from '@crossward/connector-kit';
import {
  type ClockChange,
  connectorInProcess,
  type OddRecords,
  plainHttp,
  type Subject,
  timedChanges,
  turnsOverProcesses,
} from '@crossward/connector-kit/conformance';
import { Temporal } from 'temporal-polyfill';
import { type FakeRecord, numbers, people, providers, timeZone, types } from '../fake/data.ts';
import { type FakeOscar, password, startFake } from '../fake/server.ts';
import { oscarConnector } from '../src/connector.ts';
import type { OscarSettings } from '../src/settings.ts';

const codes = [
  { code: '1', appointment_types: [types.visit, types.long] },
  { code: 'g', appointment_types: [types.long] },
];
export const north: ConfiguredCareUnit = {
  ...{ id: 'north', timeZone },
  settings: { providers: [providers.ada, providers.bea], codes, location: 'North' },
};
export const south: ConfiguredCareUnit = {
  ...{ id: 'south', timeZone },
  settings: { providers: [providers.cleo], codes: [{ code: '1' }] },
};

export function settingsFor(url: string, settings: Partial<OscarSettings> = {}): OscarSettings {
  return { base_url: url, username: 'gateway', password: { reveal: () => password }, ...settings };
}

interface Parts {
  readonly http?: EhrHttp;
  readonly inTurn?: InTurn;
  readonly now?: () => Date;
  readonly leftOut?: (record: LeftOutRecord) => void;
}

export function contextFor(settings: OscarSettings, parts: Parts = {}): ConnectorContext<OscarSettings> {
  return { emr: 'oscar', settings, careUnits: [north, south], http: plainHttp(), now: () => new Date(), ...parts };
}

export function openConnector(settings: OscarSettings, parts?: Parts): Promise<Connector> {
  return oscarConnector.open(contextFor(settings, parts));
}

/** The fake for the conformance kit. Both processes take turns, as gateways with one database do. */
export async function oscarSubject(): Promise<Subject> {
  const fake = await startFake();
  const settings = settingsFor(fake.url);
  const turns = await mkdtemp(join(tmpdir(), 'crossward-turns-'));
  const inTurn = turnsOverProcesses(turns);
  const second = await connectorInProcess(new URL('./second.ts', import.meta.url), { url: fake.url, turns });
  const leftOut: LeftOutRecord[] = [];
  let http = plainHttp();
  const open = () => openConnector(settings, { http, inTurn, leftOut: (record) => void leftOut.push(record) });
  let connector = await open();
  const day = 24 * 60 * 60 * 1000;
  return {
    name: 'oscar',
    get connector() {
      return connector;
    },
    careUnit: north,
    otherCareUnit: south,
    facts: {
      patient: [
        { type: 'emr_id', value: people.ann },
        { type: 'ca_on_hcn', value: numbers.ann },
      ],
      numbersAsWritten: [{ type: 'ca_on_hcn', value: numbers.ann }],
      phonesAsWritten: { [people.ben]: '+14165550102' },
      otherPatientId: people.ben,
      unknownPatients: [
        { type: 'emr_id', value: 'no-such-patient' },
        { type: 'emr_id', value: '999' },
        { type: 'ca_on_hcn', value: numbers.unused },
      ],
      ambiguousPatients: [{ type: 'ca_on_hcn', value: numbers.twins }],
      inactivePatients: [{ type: 'emr_id', value: people.died }],
      resource: [{ type: 'emr_id', value: providers.ada }],
      foreignResourceId: providers.cleo,
      healthcareServiceId: types.visit,
      window: { start: new Date(Date.now() + day), end: new Date(Date.now() + 3 * day) },
    },
    second,
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await open();
    },
    directChanges: staffOf(fake),
    timedChanges: timedChanges(({ id }, notes, at) => {
      fake.touch(id, { notes }, [], Math.floor(at.getTime() / 1000) * 1000);
    }),
    clockChanges: clockChangesIn(fake),
    oddRecords: { ...oddRecordsOf(fake), leftOut },
    async close() {
      await second.close();
      await fake.close();
      await rm(turns, { recursive: true });
    },
  };
}

/** The desk of the clinic. */
function staffOf(fake: FakeOscar): DirectChanges {
  const book = (
    { start, end, resourceId }: Pick<Appointment, 'start' | 'end' | 'resourceId'>,
    demographicNo: string,
  ) => {
    const row = fake.add({ providerNo: resourceId, demographicNo, type: 'Visit' }, start, end ?? start);
    return async () => fake.touch(row.id, { status: 'C' });
  };
  return {
    cancel: async ({ id }) => fake.touch(id, { status: 'C' }),
    comment: async ({ id }, notes) => fake.touch(id, { notes }),
    move: async ({ id }, { start, end }) => fake.touch(id, {}, [start, end]),
    attend: async ({ id }, attendance) => {
      const statuses = { arrived: 'H', completed: 'HS', no_show: 'N' } as const;
      fake.touch(id, { status: statuses[attendance] });
    },
    take: async (slot) => book(slot, people.vague),
    overbook: async (appointment, patientId) => book(appointment, patientId),
  };
}

/** The next days on which the clocks change, with a template of the night. */
function clockChangesIn(fake: FakeOscar): ClockChange[] {
  const clockChanges: ClockChange[] = [];
  let from = Temporal.Now.zonedDateTimeISO(timeZone);
  for (let count = 0; count < 2; count++) {
    const at = from.getTimeZoneTransition('next') as Temporal.ZonedDateTime;
    const date = at.toPlainDate();
    fake.scheduled.set(`${providers.ada} ${date}`, 'Night');
    const midnight = date.toZonedDateTime(timeZone);
    const isSpring = midnight.hoursInDay < 24;
    // The clocks skip from 2 to 3 in spring. In autumn they show 1 to 2 twice, and OSCAR has the second time only.
    const quarters = Array.from({ length: 16 }, (_, index) => index).filter((it) => !isSpring || it < 8 || it >= 12);
    const slotStarts = quarters.map((it) => {
      const wall = date.toPlainDateTime().add({ minutes: it * 15 });
      return new Date(wall.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds);
    });
    clockChanges.push({
      ...{
        name: isSpring ? 'spring' : 'autumn',
        resourceId: providers.ada,
        healthcareServiceId: types.visit,
        slotStarts,
      },
      start: new Date(midnight.epochMilliseconds),
      end: new Date(midnight.add({ hours: 6 }).epochMilliseconds),
      at: new Date(at.epochMilliseconds),
    });
    from = at;
  }
  return clockChanges;
}

function oddRecordsOf(fake: FakeOscar): Omit<OddRecords, 'leftOut'> {
  async function spoil(type: string, isIt: (record: FakeRecord, owner?: string) => boolean, broken: FakeRecord) {
    fake.spoil = (of, record, owner) => (of === type && isIt(record, owner) ? { ...record, ...broken } : record);
    return async () => {
      fake.spoil = (_, record) => record;
    };
  }
  return {
    breakAppointment: ({ id }) =>
      spoil('appointment', (it) => it.id === Number(id), { appointmentStartDateTime: 'soon' }),
    breakPatient: (id) => spoil('demographic', (it) => it.demographicNo === Number(id), { demographicNo: 'none' }),
    breakTimeSlot: ({ start, resourceId }) =>
      spoil('timeSlot', (it, owner) => owner === resourceId && Date.parse(String(it.date)) === start.getTime(), {
        date: 'soon',
      }),
  };
}
