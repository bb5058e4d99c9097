import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ConfiguredCareUnit,
  Connector,
  ConnectorContext,
  DirectChanges,
  EhrHttp,
  InTurn,
  LeftOutRecord,
} from '@crossward/connector-kit';
import {
  connectorInProcess,
  type OddRecords,
  plainHttp,
  type Subject,
  timedChanges,
  turnsOverProcesses,
} from '@crossward/connector-kit/conformance';
import { configs, facilities, geoOrganization, newNumbers, numbers, people, resources } from '../fake/data.ts';
import { type FakeCare, password, startFake } from '../fake/server.ts';
import { careConnector } from '../src/connector.ts';
import type { CareSettings } from '../src/settings.ts';

export const timeZone = 'Asia/Kolkata';
export const north: ConfiguredCareUnit = {
  id: 'north',
  timeZone,
  settings: { facility: facilities.north, locations: [resources.ward.id] },
};
export const south: ConfiguredCareUnit = { id: 'south', timeZone, settings: { facility: facilities.south } };

export function settingsFor(url: string, settings: Partial<CareSettings> = {}): CareSettings {
  return {
    base_url: url,
    username: 'gateway',
    password: { reveal: () => password },
    identifier_systems: { no_personal_number: configs.number.config.system },
    registration: { geo_organization: geoOrganization, pincode: 682001 },
    ...settings,
  };
}

interface Parts {
  readonly http?: EhrHttp;
  readonly inTurn?: InTurn;
  readonly now?: () => Date;
  readonly leftOut?: (record: LeftOutRecord) => void;
}

export function contextFor(settings: CareSettings, parts: Parts = {}): ConnectorContext<CareSettings> {
  return { emr: 'care', settings, careUnits: [north, south], http: plainHttp(), now: () => new Date(), ...parts };
}

export function openConnector(settings: CareSettings, parts?: Parts): Promise<Connector> {
  return careConnector.open(contextFor(settings, parts));
}

/** The fake for the conformance kit. Both processes take turns, as gateways with one database do. */
export async function careSubject(): Promise<Subject> {
  const fake = await startFake({ signIns: 10_000, mostPerPatient: 500 });
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
    name: 'care',
    get connector() {
      return connector;
    },
    careUnit: north,
    otherCareUnit: south,
    facts: {
      patient: [
        { type: 'emr_id', value: people.asha },
        { type: 'no_personal_number', value: numbers.asha },
      ],
      numbersAsWritten: [{ type: 'no_personal_number', value: numbers.asha }],
      phonesAsWritten: { [people.ravi]: '+919000000002' },
      otherPatientId: people.ravi,
      unknownPatients: [
        { type: 'emr_id', value: 'no-such-patient' },
        { type: 'emr_id', value: facilities.north },
        { type: 'no_personal_number', value: numbers.unused },
      ],
      ambiguousPatients: [{ type: 'no_personal_number', value: numbers.twins }],
      inactivePatients: [{ type: 'emr_id', value: people.died }],
      newPatients: newNumbers.map((value) => ({ type: 'no_personal_number', value })),
      newPatient: {
        fields: {
          phone: '+919000000009',
          email: null,
          address: { lines: ['1 Example Road', 'Kochi'], postalCode: '682001', city: null, country: null },
          gender: 'other',
        },
        shown: { givenName: null, familyName: "Åse Conformance O'Prøve" },
      },
      resource: [{ type: 'emr_id', value: resources.ada.id }],
      foreignResourceId: resources.cleo.id,
      healthcareServiceId: 'appointment',
      oneSlotOnly: true,
      window: { start: new Date(Date.now() + day), end: new Date(Date.now() + 5 * day) },
    },
    second,
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await open();
    },
    directChanges: staffOf(fake),
    timedChanges: timedChanges(({ id }, note, at) => {
      const booking = fake.bookings.get(id);
      if (booking) Object.assign(booking, { note, modified: at.getTime() });
    }),
    oddRecords: { ...oddRecordsOf(fake), leftOut },
    async close() {
      await second.close();
      await fake.close();
      await rm(turns, { recursive: true });
    },
  };
}

/** The desk of the facility. */
function staffOf(fake: FakeCare): DirectChanges {
  const mustFind = (id: string) => {
    const booking = fake.bookings.get(id);
    if (!booking) throw new Error('No such booking');
    return booking;
  };
  return {
    async cancel({ id }) {
      const booking = mustFind(id);
      // Nobody cancels what was moved to another time.
      if (booking.status === 'rescheduled') throw new Error('It was moved');
      fake.free(booking, 'cancelled', undefined);
    },
    comment: async ({ id }, note) => void fake.touch(mustFind(id), { note }),
    async attend({ id }, attendance) {
      const statuses = { arrived: 'checked_in', completed: 'fulfilled', no_show: 'noshow' } as const;
      fake.touch(mustFind(id), { status: statuses[attendance] });
    },
    async take({ start, resourceId }) {
      const slot = fake.slots.find((it) => it.start === start.getTime() && it.resource.id === resourceId);
      if (!slot) throw new Error('No such slot');
      const booking = fake.add(slot, people.yearOnly);
      return async () => fake.free(booking, 'cancelled', undefined);
    },
    // Two callers at once have booked one place.
    async overbook({ id }, patientId) {
      const booking = fake.add(mustFind(id).slot, patientId);
      return async () => fake.free(booking, 'cancelled', undefined);
    },
  };
}

function oddRecordsOf(fake: FakeCare): Omit<OddRecords, 'leftOut'> {
  async function spoil(type: string, isIt: (record: Record<string, unknown>) => boolean, broken: object) {
    fake.spoil = (of, record) => (of === type && isIt(record) ? { ...record, ...broken } : record);
    return async () => {
      fake.spoil = (_, record) => record;
    };
  }
  return {
    breakAppointment: ({ id }) => spoil('booking', (it) => it.id === id, { token_slot: { start_datetime: 'soon' } }),
    breakPatient: (id) => spoil('patient', (it) => it.id === id, { instance_identifiers: 'none' }),
    breakTimeSlot: ({ start, resourceId }) => {
      const ids = fake.slots
        .filter((it) => it.start === start.getTime() && it.resource.id === resourceId)
        .map(({ id }) => id);
      return spoil('slot', (it) => ids.includes(String(it.id)), { end_datetime: 'soon' });
    },
  };
}
