import type { ConfiguredCareUnit, Connector, ConnectorContext, EhrHttp, LeftOutRecord } from '@crossward/connector-kit';
import {
  connectorInProcess,
  type OddRecords,
  type PlainHttp,
  plainHttp,
  type Subject,
  timedChanges,
} from '@crossward/connector-kit/conformance';
import { institutions, kariNumber, people, professionals, specialities } from '../fake/data.ts';
import { database, type FakeServer, password, startFake } from '../fake/server.ts';
import { gnuHealthConnector } from '../src/connector.ts';
import type { GnuHealthSettings } from '../src/settings.ts';
import { clockChanges, ordinaryStarts } from './starts.ts';

export const north: ConfiguredCareUnit = {
  id: 'north',
  timeZone: 'Europe/Oslo',
  settings: { institution: institutions.north },
};
export const south: ConfiguredCareUnit = {
  id: 'south',
  timeZone: 'Europe/Oslo',
  settings: { institution: institutions.south },
};

export function settingsFor(url: string, settings: Partial<GnuHealthSettings> = {}): GnuHealthSettings {
  return {
    base_url: url,
    database,
    user: 'crossward',
    password: { reveal: () => password },
    national_number: 'no_personal_number',
    note_author: professionals.gateway,
    ...settings,
  };
}

export function contextFor(
  settings: GnuHealthSettings,
  http: EhrHttp = lengthHttp(),
  now = () => new Date(),
): ConnectorContext<GnuHealthSettings> {
  return { emr: 'hospital', settings, careUnits: [north, south], http, now };
}

export function openConnector(settings: GnuHealthSettings, http?: EhrHttp, now?: () => Date): Promise<Connector> {
  return gnuHealthConnector.open(contextFor(settings, http, now));
}

/** Sends bodies with their length, as the gateway does: the server demands it. */
export function lengthHttp(): PlainHttp {
  const http = plainHttp();
  return {
    ...http,
    async send(request) {
      const { body } = request;
      if (typeof body !== 'object' || body instanceof Uint8Array) return http.send(request);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body.read()) chunks.push(chunk);
      return http.send({ ...request, body: Buffer.concat(chunks) });
    },
  };
}

/** The fake for the conformance kit. */
export async function fakeSubject(): Promise<Subject> {
  const around = clockChanges();
  const fake = await startFake({ starts: [...ordinaryStarts(), ...around.flatMap(({ slotStarts }) => slotStarts)] });
  const settings = settingsFor(fake.url);
  const asStaff = contextFor({ ...settings, user: 'desk' });
  let http = lengthHttp();
  const leftOut: LeftOutRecord[] = [];
  const open = () =>
    gnuHealthConnector.open({ ...contextFor(settings, http), leftOut: (record) => void leftOut.push(record) });
  let connector = await open();
  const second = await connectorInProcess(new URL('./second.ts', import.meta.url), fake.url);
  const directChanges = await gnuHealthConnector.directChanges?.(asStaff);
  return {
    name: 'gnuhealth',
    get connector() {
      return connector;
    },
    careUnit: north,
    otherCareUnit: south,
    facts: {
      patient: [
        { type: 'emr_id', value: String(people.kari) },
        { type: 'no_personal_number', value: kariNumber },
      ],
      numbersAsWritten: [{ type: 'no_personal_number', value: kariNumber }],
      phonesAsWritten: { [people.kari]: '+4790000001' },
      otherPatientId: String(people.ola),
      unknownPatients: [
        { type: 'emr_id', value: 'no-such-patient' },
        { type: 'emr_id', value: '99' },
        { type: 'no_personal_number', value: '13116900135' },
      ],
      inactivePatients: [{ type: 'emr_id', value: String(people.per) }],
      resource: [{ type: 'emr_id', value: String(professionals.ada) }],
      foreignResourceId: String(professionals.cleo),
      healthcareServiceId: String(specialities.family),
      oneSlotOnly: true,
    },
    second,
    async restart() {
      http.cut();
      http = lengthHttp();
      connector = await open();
    },
    ...(directChanges ? { directChanges } : {}),
    timedChanges: timedChanges(({ id }, comments, at) => {
      const table = fake.tables.of('gnuhealth.appointment');
      const row = table.get(Number(id));
      if (row) table.set(row.id, { ...row, comments, write_date: at.getTime() * 1000 });
    }),
    oddRecords: { ...oddRecordsOf(fake), leftOut },
    clockChanges: around,
    async close() {
      await second.close();
      await fake.close();
    },
  };
}

/** Rows as the server returns them after another program has changed them. None of its references leaves the database. */
function oddRecordsOf(fake: FakeServer): Omit<OddRecords, 'leftOut'> {
  async function spoil(model: string, ids: readonly number[], broken: object) {
    fake.spoil = (of, row) => (of === model && ids.includes(Number(row.id)) ? { ...row, ...broken } : row);
    return async () => {
      fake.spoil = (_, row) => row;
    };
  }
  const appointments = 'gnuhealth.appointment';
  return {
    breakAppointment: ({ id }) => spoil(appointments, [Number(id)], { appointment_date: 'soon' }),
    breakPatient: (id) => spoil('gnuhealth.patient', [Number(id)], { 'party.': null }),
    breakTimeSlot: ({ start, resourceId }) => {
      const rows = [...fake.tables.of(appointments).values()];
      const isIt = (row: (typeof rows)[number]) =>
        row.appointment_date === start.getTime() * 1000 && row.healthprof === Number(resourceId);
      const ids = rows.filter(isIt).map(({ id }) => id);
      return spoil(appointments, ids, { appointment_date_end: 'soon' });
    },
  };
}
