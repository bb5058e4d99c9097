import { type Connector, ConnectorError, type EhrHttp, type LeftOutRecord } from '@crossward/connector-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { north, patients, timeZone } from '../fake/data-set.ts';
import { rivtaSchedulingConnector } from '../src/connector.ts';
import { careUnit, idOf } from './subject.ts';

const scheduling = 'urn:riv:crm:scheduling:1';
const description = 'urn:riv:clinicalprocess:healthcond:description:2';

/** An element: a text, or others. */
interface Part {
  readonly name: string;
  readonly namespace: string;
  readonly content: string | readonly Part[];
}

function partOf(namespace: string, name: string, content: string | object): Part {
  if (typeof content === 'string') return { name, namespace, content };
  return { name, namespace, content: Object.entries(content).map(([inner, it]) => partOf(namespace, inner, it)) };
}

function xmlOf({ name, namespace, content }: Part): string {
  const inner = typeof content === 'string' ? content : content.map(xmlOf).join('');
  return `<${name} xmlns="${namespace}">${inner}</${name}>`;
}

const texts = [
  '',
  ' ',
  '0',
  '-1',
  'true',
  'null',
  'NaN',
  '[object Object]',
  '20310231080000',
  '20310100080000',
  '2031010608',
  '203101060800',
  '20310330023000',
  '2031-01-06T08:00:00',
  '2031-01-06T08:00:00Z',
  '99999999999999',
  '&lt;x/&gt;',
];

/** An element, broken in one way. */
const broken = (part: Part): fc.Arbitrary<readonly Part[]> =>
  fc.oneof(
    fc.constant([]),
    fc.constant([part, part]),
    fc.constant([part, { ...part, content: 'other' }]),
    fc.constant([{ ...part, content: [{ ...part, content: 'inside' }] }]),
    fc.constant([{ ...part, content: [part] }]),
    fc.constant([{ ...part, namespace: 'urn:other' }]),
    fc.constant([{ ...part, name: `${part.name}s` }]),
    fc.constantFrom(...texts).map((content) => [{ ...part, content }]),
    fc.string({ maxLength: 20 }).map((it) => [{ ...part, content: it.replaceAll(/[^\p{L}\p{N} ]/gu, '') }]),
  );

/** A record of which one or several elements are broken, however deep. */
function damaged(record: Part): fc.Arbitrary<Part> {
  const { content } = record;
  if (typeof content === 'string') return fc.constant(record);
  const parts = content.map((it) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant([it]) },
      { weight: 1, arbitrary: broken(it) },
      { weight: typeof it.content === 'string' ? 0 : 2, arbitrary: damaged(it).map((inner) => [inner]) },
    ),
  );
  return fc.tuple(...parts).map((kept) => ({ ...record, content: kept.flat() }));
}

interface Opened {
  readonly connector: Connector;
  readonly leftOut: readonly LeftOutRecord[];
}

/** A connector to which each operation is answered with these records. */
async function connectorTo(answers: Readonly<Record<string, readonly Part[]>>): Promise<Opened> {
  const leftOut: LeftOutRecord[] = [];
  const send: EhrHttp['send'] = async ({ url }) => {
    const operation = url.split('/').at(-1) ?? '';
    const namespace = answers[operation]?.[0]?.namespace ?? `urn:riv:crm:scheduling:${operation}Responder:1`;
    const answer = xmlOf({ namespace, name: `${operation}Response`, content: answers[operation] ?? [] });
    const text = `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>${answer}</Body></Envelope>`;
    return { status: 200, headers: {}, text };
  };
  const connector = await rivtaSchedulingConnector.open({
    emr: 'rivta',
    settings: {
      url: 'http://producer.example/{operation}',
      actor: { type: 'agent', hsa_id: 'SE2321000000-AGNT' },
      search_subject: patients.nobody,
      notes: { url: 'http://notes.example/GetCareDocumentation', logical_address: 'SE2321000000-AGGR' },
    },
    careUnits: [{ id: careUnit.id, timeZone, settings: { healthcare_facility: north.hsaId } }],
    http: { send, stream: () => Promise.reject(new Error('Not used')) },
    now: () => new Date('2030-01-01T00:00:00Z'),
    leftOut: (it) => void leftOut.push(it),
  });
  return { connector, leftOut };
}

const message = (operation: string) => `urn:riv:crm:scheduling:${operation}Responder:1`;
const record = (namespace: string, name: string, inner: string, content: object): Part => ({
  ...partOf(inner, name, content),
  namespace,
});

const slotOf = (operation: string) => (more: object) =>
  record(message(operation), 'timeslotDetail', scheduling, {
    startTimeInclusive: '20310106080000',
    endTimeExclusive: '20310106083000',
    healthcare_facility: north.hsaId,
    performer: 'SE2321000000-P001',
    resourceName: 'Astrid',
    resourceID: 'schema-1',
    timeTypeName: 'Besök',
    timeTypeID: 'besok',
    cancel_booking_allowed: 'true',
    ...more,
  });
const bookingOf = (id: string) =>
  slotOf('GetSubjectOfCareSchedule')({ bookingId: id, subject_of_care: patients.first, reason: 'Ont i knät' });
const freeAt = (day: string) =>
  slotOf('GetAvailableTimeslots')({ startTimeInclusive: `203102${day}080000`, endTimeExclusive: `203102${day}083000` });
const performerOf = (perfomer: string) =>
  record(message('GetAllPerformers'), 'performerInfos', scheduling, { perfomer, firstName: 'Astrid', lastName: 'Ek' });
const timeTypeOf = (timeTypeId: string) =>
  record(message('GetAllTimeTypes'), 'ListOfTimeTypes', scheduling, { timeTypeName: 'Besök', timeTypeId });
const noteOf = (documentId: string) =>
  record(`${description.replace(/:2$/, '')}:GetCareDocumentationResponder:2`, 'careDocumentation', description, {
    careDocumentationHeader: {
      documentId,
      sourceSystemHSAid: 'SE2321000000-SRC',
      documentTime: '20260105081500',
      patientId: { id: patients.first, type: '1.2.752.129.2.1.3.1' },
      accountableHealthcareProfessional: { authorTime: '20260105081500', healthcareProfessionalHSAId: 'SE-1' },
      approvedForPatient: 'true',
    },
    careDocumentationBody: {
      clinicalDocumentNote: { clinicalDocumentNoteTitle: 'Besök', clinicalDocumentNoteText: 'Ont i knät' },
    },
  });

/** Good records among broken ones, in any order. */
function mixed(one: (id: string) => Part, good: readonly string[], bad: string) {
  return fc
    .array(damaged(one(bad)), { minLength: 1, maxLength: 4 })
    .chain((those) => fc.shuffledSubarray([...good.map(one), ...those], { minLength: good.length + those.length }));
}

const base = {
  GetAllPerformers: [performerOf('SE2321000000-P001')],
  GetAllTimeTypes: [timeTypeOf('besok')],
};
const all = { careUnit, start: new Date('2031-01-01T00:00:00Z'), end: new Date('2031-03-31T00:00:00Z'), limit: 100 };
const patientId = idOf(patients.first);
const bookingId = (id: string) => `${patients.first}/${north.hsaId}/${id}`;

test('a broken booking hides no other, and is there, left out and counted, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(mixed(bookingOf, ['good-1', 'good-2'], 'bad'), async (bookings) => {
      const { connector, leftOut } = await connectorTo({ ...base, GetSubjectOfCareSchedule: bookings });
      const listed = (await connector.listAppointments?.({ careUnit, patientId, limit: 100 })) ?? [];
      expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(['good-1', 'good-2'].map(bookingId)));
      for (const it of listed) expect(it).toMatchObject({ start: expect.any(Date), state: 'booked' });
      for (const { type, path } of leftOut) {
        expect(type).toBe('timeslotDetail');
        expect(path).toMatch(/^\/\w+(\/\d+)?$/);
      }
      expect(await connector.findAppointments?.(careUnit, [bookingId('good-2')])).toHaveLength(1);
      await connector.findAppointments?.(careUnit, [bookingId('bad')]).catch((error: unknown) => {
        expect(error).toBeInstanceOf(ConnectorError);
        expect((error as ConnectorError).kind).toBe('rejected');
      });
    }),
    { numRuns: 100 },
  );
});

test('a broken free time hides no other', async () => {
  await fc.assert(
    fc.asyncProperty(mixed(freeAt, ['03', '04'], '05'), async (slots) => {
      const { connector } = await connectorTo({ ...base, GetAvailableTimeslots: slots });
      const starts = (await connector.listTimeSlots?.(all))?.map(({ start }) => start.toISOString());
      expect(starts).toEqual(expect.arrayContaining(['2031-02-03T07:00:00.000Z', '2031-02-04T07:00:00.000Z']));
    }),
    { numRuns: 100 },
  );
});

test('a broken performer or time type hides no other', async () => {
  const performers = mixed(performerOf, ['SE2321000000-P001', 'SE2321000000-P002'], 'SE2321000000-P003');
  const types = mixed(timeTypeOf, ['besok', 'provtagning'], 'vaccin');
  await fc.assert(
    fc.asyncProperty(performers, types, async (GetAllPerformers, GetAllTimeTypes) => {
      const { connector } = await connectorTo({ GetAllPerformers, GetAllTimeTypes });
      const resources = (await connector.listResources?.(careUnit))?.map(({ id }) => id);
      expect(resources).toEqual(expect.arrayContaining(['SE2321000000-P001', 'SE2321000000-P002']));
      const services = (await connector.listHealthcareServices?.(careUnit))?.map(({ id }) => id);
      expect(services).toEqual(expect.arrayContaining(['besok', 'provtagning']));
    }),
    { numRuns: 50 },
  );
});

test('a broken journal note hides no other', async () => {
  await fc.assert(
    fc.asyncProperty(mixed(noteOf, ['good-1', 'good-2'], 'bad'), async (GetCareDocumentation) => {
      const { connector } = await connectorTo({ GetCareDocumentation });
      const notes = (await connector.listMedicalNotes?.({ careUnit, patientId, limit: 100 })) ?? [];
      const good = ['SE2321000000-SRC/good-1', 'SE2321000000-SRC/good-2'];
      expect(notes.map(({ id }) => id)).toEqual(expect.arrayContaining(good));
      for (const id of good) expect(await connector.findMedicalNote?.(careUnit, patientId, id)).toMatchObject({ id });
    }),
    { numRuns: 50 },
  );
});

test('what is left out is counted, and says where', async () => {
  const twice = bookingOf('b-2').content as readonly Part[];
  const { connector, leftOut } = await connectorTo({
    GetSubjectOfCareSchedule: [
      { ...bookingOf('b-1'), content: [] },
      { ...bookingOf('b-2'), content: [...twice, ...twice.filter(({ name }) => name === 'performer')] },
      slotOf('GetSubjectOfCareSchedule')({ bookingId: 'b-3', startTimeInclusive: '20310231080000' }),
      slotOf('GetSubjectOfCareSchedule')({}),
    ],
  });
  expect(await connector.listAppointments?.({ careUnit, patientId, limit: 100 })).toEqual([]);
  expect(leftOut).toEqual([
    { type: 'timeslotDetail', id: undefined, path: '/healthcare_facility' },
    { type: 'timeslotDetail', id: 'b-2', path: '/performer' },
    { type: 'timeslotDetail', id: 'b-3', path: '/startTimeInclusive' },
    { type: 'timeslotDetail', id: undefined, path: '/bookingId' },
  ]);
});
