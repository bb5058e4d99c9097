import { ConnectorError, type EhrHttp, type LeftOutRecord } from '@crossward/connector-kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gpConnectConnector } from '../src/connector.ts';
import { extensions, identifierSystems } from '../src/urls.ts';
import { careUnits, contextFor, settingsFor } from './subject.ts';

const [careUnit, branch] = careUnits;
const base = 'https://practice.example/fhir';
type Json = Readonly<Record<string, unknown>>;

interface Options {
  /** What the practice answers to a path that begins so. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly proxy?: string;
}

/** A connector to a practice that answers this, whatever is asked of it. */
async function connectorTo({ answers, proxy }: Options) {
  const leftOut: LeftOutRecord[] = [];
  const root = proxy === undefined ? base : `${proxy}/${base}`;
  const send: EhrHttp['send'] = async ({ url }) => {
    const [, answer] = Object.entries(answers).find(([path]) => url.startsWith(`${root}/${path}`)) ?? [];
    return { status: answer === undefined ? 404 : 200, headers: {}, text: JSON.stringify(answer ?? {}) };
  };
  const settings = settingsFor(base, proxy === undefined ? {} : { proxy_url: proxy });
  const http = { send, stream: () => Promise.reject(new Error('Not used')) };
  const context = contextFor(settings, http, () => new Date('2031-01-01T00:00:00Z'));
  const connector = await gpConnectConnector.open({ ...context, leftOut: (it) => void leftOut.push(it) });
  return { connector, leftOut };
}

const bundle = (resources: readonly unknown[]) => ({
  resourceType: 'Bundle',
  entry: resources.map((resource) => ({ resource })),
});

const appointment = (id: string, more: Json = {}): Json => ({
  resourceType: 'Appointment',
  id,
  meta: { versionId: '1' },
  extension: [{ url: extensions.deliveryChannel, valueCode: 'In-person' }],
  status: 'booked',
  serviceCategory: { text: 'General GP Appointments' },
  serviceType: [{ text: 'General GP Appointment' }],
  description: 'GP appointment',
  start: '2031-02-03T09:00:00+00:00',
  end: '2031-02-03T09:15:00+00:00',
  slot: [{ reference: 'Slot/1' }],
  comment: 'Ont i knät',
  participant: [
    { actor: { reference: 'Patient/1' }, status: 'accepted' },
    { actor: { reference: 'Location/1' }, status: 'accepted' },
    { actor: { reference: 'Practitioner/1', display: 'Dr One' }, status: 'accepted' },
  ],
  ...more,
});
const slot = (id: string, more: Json = {}): Json => ({
  resourceType: 'Slot',
  id,
  extension: [{ url: extensions.deliveryChannel, valueCode: 'In-person' }],
  serviceType: [{ text: 'General GP Appointment' }],
  schedule: { reference: 'Schedule/1' },
  status: 'free',
  start: `2031-02-${id}T09:00:00+00:00`,
  end: `2031-02-${id}T09:15:00+00:00`,
  ...more,
});
const schedule = (id: string, practitioner: string): Json => ({
  resourceType: 'Schedule',
  id,
  serviceCategory: { text: 'General GP Appointments' },
  actor: [{ reference: `Practitioner/${practitioner}` }, { reference: 'Location/1' }],
});
const practitioner: Json = { resourceType: 'Practitioner', id: '1', name: [{ family: 'One', given: ['Dr'] }] };

const all = { careUnit, start: new Date('2031-02-01T00:00:00Z'), end: new Date('2031-02-14T00:00:00Z'), limit: 100 };
const ofPatient = { careUnit, patientId: '1', limit: 100 };

/** Other values than a record has. */
const otherValues: readonly unknown[] = [
  null,
  {},
  [],
  [null],
  [[]],
  [{}],
  0,
  -1,
  true,
  '',
  ' ',
  'Patient/2',
  'https://other.example/fhir/Patient/1',
  '2031-02-03T09:00:00',
  '2031-02-31T09:00:00+00:00',
  '2031-02-03',
  '09:00',
  { text: 'General GP Appointment' },
  { reference: 7 },
  { reference: 'Practitioner/1' },
];

/** A value of which one or several members are missing, or are something else, however deep. */
function damaged(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return fc.constant(value);
  const members = Object.entries(value).map(([name, it]) =>
    fc.oneof(
      { weight: 5, arbitrary: fc.constant([[name, it]]) },
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.constantFrom(...otherValues).map((other) => [[name, other]]) },
      { weight: 2, arbitrary: damaged(it).map((inner) => [[name, inner]]) },
      // A null with a sibling that says why, which FHIR allows.
      {
        weight: 1,
        arbitrary: fc.constant([
          [name, null],
          [`_${name}`, { extension: [{ url: 'urn:x', valueCode: 'unknown' }] }],
        ]),
      },
    ),
  );
  return fc.tuple(...members).map((kept) => {
    const entries = kept.flat() as [string, unknown][];
    return Array.isArray(value)
      ? entries.filter(([name]) => !name.startsWith('_')).map(([, it]) => it)
      : Object.fromEntries(entries);
  });
}

/** Good records among broken ones, which are of the same type, in any order. */
function mixed(one: (id: string) => Json, good: readonly string[], bad: string) {
  return fc
    .array(damaged(one(bad)), { minLength: 1, maxLength: 4 })
    .chain((those) =>
      fc.shuffledSubarray([...good.map((it) => one(it)), ...those], { minLength: good.length + those.length }),
    );
}

test('a broken appointment hides no other, and is shown, left out and counted, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(mixed(appointment, ['good-1', 'good-2'], 'bad'), async (resources) => {
      const { connector, leftOut } = await connectorTo({ answers: { 'Patient/1/Appointment': bundle(resources) } });
      const listed = (await connector.listAppointments?.(ofPatient)) ?? [];
      expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(['good-1', 'good-2']));
      for (const it of listed) expect(it.start.getTime()).toBe(Date.parse('2031-02-03T09:00:00Z'));
      for (const { path } of leftOut) expect(path).toMatch(/^(\/[\w-]+)*$/);
    }),
    { numRuns: 100 },
  );
});

test('an appointment that is read one by one and broken is refused, and never fails otherwise', async () => {
  await fc.assert(
    fc.asyncProperty(damaged(appointment('1')), fc.boolean(), async (resource, cancels) => {
      const { connector } = await connectorTo({ answers: { 'Appointment/1': resource } });
      const changes = [{ kind: 'cancel', appointmentId: '1' } as const];
      const done = cancels
        ? connector.changeAppointments?.({ operationId: 'o', careUnit, changes })
        : connector.findAppointments?.(careUnit, ['1']);
      await done?.catch((error: unknown) => expect(error).toBeInstanceOf(ConnectorError));
    }),
    { numRuns: 100 },
  );
});

test('a broken slot, schedule or practitioner hides no other slot', async () => {
  const others = [
    damaged(schedule('9', '2')),
    damaged(practitioner),
    damaged(slot('05', { schedule: { reference: 'Schedule/9' } })),
  ];
  await fc.assert(
    fc.asyncProperty(mixed(slot, ['03', '04'], '05'), fc.tuple(...others), async (slots, more) => {
      const { connector } = await connectorTo({
        answers: { Slot: bundle([...more, ...slots, schedule('1', '1'), practitioner]) },
      });
      const starts = (await connector.listTimeSlots?.(all))?.map(({ start }) => start.toISOString());
      expect(starts).toEqual(expect.arrayContaining(['2031-02-03T09:00:00.000Z', '2031-02-04T09:00:00.000Z']));
    }),
    { numRuns: 100 },
  );
});

test.each([['no resource', [{}, { resource: null }, null, { resource: 'x' }, { resource: { id: '1' } }]]])(
  'entries of a Bundle with %s hide no others',
  async (_, entries) => {
    const answer = { resourceType: 'Bundle', entry: [...entries, { resource: appointment('good') }] };
    const { connector } = await connectorTo({ answers: { 'Patient/1/Appointment': answer } });
    expect(await connector.listAppointments?.(ofPatient)).toMatchObject([{ id: 'good' }]);
  },
);

test.each([
  ['an object in place of its entries', { resourceType: 'Bundle', entry: {} }],
  ['an error in it', bundle([{ resourceType: 'OperationOutcome', issue: [{ severity: 'error', code: 'exception' }] }])],
  ['an error in it beside an appointment', bundle([appointment('1'), { resourceType: 'OperationOutcome', issue: {} }])],
])('a Bundle with %s does not say that there is nothing', async (_, answer) => {
  const { connector } = await connectorTo({ answers: { 'Patient/1/Appointment': answer, Patient: answer } });
  await expect(connector.listAppointments?.(ofPatient)).rejects.toMatchObject({ kind: 'rejected' });
  await expect(connector.findPatient?.({ type: 'nhs_number', value: '9990000018' })).rejects.toMatchObject({
    kind: 'rejected',
  });
});

test('a warning in a Bundle says nothing about the rest', async () => {
  const warning = { resourceType: 'OperationOutcome', issue: [{ severity: 'warning' }] };
  const { connector } = await connectorTo({
    answers: { 'Patient/1/Appointment': bundle([warning, appointment('1')]) },
  });
  expect(await connector.listAppointments?.(ofPatient)).toHaveLength(1);
});

const patient: Json = {
  resourceType: 'Patient',
  id: '1',
  identifier: [{ system: identifierSystems.nhsNumber, value: '9990000018' }],
  active: true,
  name: [{ use: 'official', family: 'Meadow', given: ['Merry'] }],
  telecom: [{ system: 'phone', value: '07700 900001', use: 'mobile' }],
  gender: 'female',
  birthDate: '1984-02-17',
  deceasedBoolean: false,
  address: [{ use: 'home', line: ['1 High Street'], city: 'Leeds', postalCode: 'LS1 1AA' }],
};
const identifiers = [
  { type: 'emr_id', value: '1' },
  { type: 'nhs_number', value: '9990000018' },
] as const;

test('a patient who is broken is shown, unknown or refused, and never fails otherwise', async () => {
  await fc.assert(
    fc.asyncProperty(damaged(patient), fc.constantFrom(...identifiers), async (resource, identifier) => {
      const answers = { 'Patient/1': resource, 'Patient?': bundle([resource]) };
      const { connector } = await connectorTo({ answers });
      await connector.findPatient?.(identifier).catch((error: unknown) => expect(error).toBeInstanceOf(ConnectorError));
    }),
    { numRuns: 100 },
  );
});

test('a null says nothing about a patient', async () => {
  const resource = { ...patient, deceasedDateTime: null, active: null, address: {} };
  const { connector } = await connectorTo({ answers: { 'Patient/1': resource } });
  const found = await connector.findPatient?.(identifiers[0]);
  expect(found).toMatchObject({ id: '1', familyName: 'Meadow', address: null });
  expect(found).not.toHaveProperty('isInactive');
});

describe('what is left out is counted, and says where', () => {
  test.each<[string, Json, string]>([
    ['an object for an array', { participant: {} }, '/participant'],
    ['a number for a text', { comment: 7 }, '/comment'],
    ['no id', { id: undefined }, '/id'],
    ['no start', { start: null }, '/start'],
    ['a start without an offset', { start: '2031-02-03T09:00:00' }, '/start'],
    ['a start on 31 February', { start: '2031-02-31T09:00:00+00:00' }, '/start'],
    ['no patient', { participant: [{ actor: { reference: 'Location/1' } }] }, '/participant'],
    [
      'the patient of another server',
      { participant: [{ actor: { reference: 'https://other.example/fhir/Patient/1' } }] },
      '/participant',
    ],
    ['a status that nobody knows', { status: 'toString' }, '/status'],
  ])('an appointment with %s', async (_, more, path) => {
    const resources = [appointment('bad', more), appointment('good')];
    const { connector, leftOut } = await connectorTo({
      answers: { 'Patient/1/Appointment': bundle(resources), 'Appointment/bad': appointment('bad', more) },
    });
    expect((await connector.listAppointments?.(ofPatient))?.map(({ id }) => id)).toEqual(['good']);
    expect(leftOut).toEqual([{ type: 'Appointment', id: path === '/id' ? undefined : 'bad', path }]);
    await expect(connector.findAppointments?.(careUnit, ['bad'])).rejects.toMatchObject({ kind: 'rejected' });
  });

  test.each<[string, Json, string]>([
    ['no id', { id: null }, '/id'],
    ['a time without an offset', { end: '2031-02-03T09:15:00' }, '/end'],
    ['an end at its start', { end: '2031-02-05T09:00:00+00:00' }, '/end'],
    [
      'the schedule of another server',
      { schedule: { reference: 'https://other.example/fhir/Schedule/1' } },
      '/schedule',
    ],
    ['a schedule that is not there', { schedule: { reference: 'Schedule/8' } }, '/schedule'],
  ])('a slot with %s', async (_, more, path) => {
    const { connector, leftOut } = await connectorTo({
      answers: { Slot: bundle([slot('05', more), slot('03'), schedule('1', '1')]) },
    });
    expect(await connector.listTimeSlots?.(all)).toHaveLength(1);
    expect(leftOut).toEqual([{ type: 'Slot', id: path === '/id' ? undefined : '05', path }]);
  });
});

describe('an appointment is shown', () => {
  const shown = async (more: Json, unit: typeof careUnit | typeof branch = careUnit) => {
    const { connector } = await connectorTo({ answers: { 'Appointment/1': appointment('1', more) } });
    return connector.findAppointments?.(unit, ['1']);
  };
  const [patient, location] = [
    { actor: { reference: 'Patient/1' } },
    { actor: { reference: 'Location/1', display: 'Main surgery' } },
  ];

  test('without a practitioner, with the name that it has', async () => {
    expect(await shown({ participant: [patient, location] })).toMatchObject([
      { resourceId: null, resourceName: 'Main surgery' },
    ]);
    const named = { actor: { display: 'Dr Locum' } };
    expect(await shown({ participant: [patient, named, location] })).toMatchObject([
      { resourceId: null, resourceName: 'Dr Locum' },
    ]);
    expect(
      await shown({
        participant: [
          patient,
          { actor: { reference: 'https://other.example/fhir/Practitioner/1', display: 'Dr Far' } },
          location,
        ],
      }),
    ).toMatchObject([{ resourceId: null, resourceName: 'Dr Far' }]);
  });

  test('without a practitioner, as that of a location that the care unit has', async () => {
    expect(await shown({ participant: [patient, { actor: { reference: 'Location/2' } }] }, branch)).toMatchObject([
      { resourceId: 'location_2' },
    ]);
  });

  test('without a location, in the care unit of the practitioner', async () => {
    const participant = [patient, { actor: { reference: 'Practitioner/3' } }];
    expect(await shown({ participant }, branch)).toMatchObject([{ resourceId: '3' }]);
    expect(await shown({ participant })).toEqual([]);
  });

  test.each<[string, Json, string | null]>([
    ['the end of the record', { minutesDuration: 60 }, '2031-02-03T09:15:00.000Z'],
    ['its duration', { end: undefined, minutesDuration: 20 }, '2031-02-03T09:20:00.000Z'],
    [
      'its duration, if it ends when it starts',
      { end: '2031-02-03T09:00:00+00:00', minutesDuration: 20 },
      '2031-02-03T09:20:00.000Z',
    ],
    ['the duration of its service', { end: '2031-02-03T09:30:00' }, '2031-02-03T09:15:00.000Z'],
    ['no end', { end: null, serviceType: [{ text: 'NHS Health Check' }] }, null],
  ])('with %s', async (_, more, end) => {
    const [found] = (await shown(more)) ?? [];
    expect(found?.end?.toISOString() ?? null).toBe(end);
  });

  test('with a slot that is deleted, without a service, and entered in error', async () => {
    expect(await shown({ slot: undefined })).toHaveLength(1);
    expect(await shown({ serviceType: null })).toMatchObject([{ healthcareServiceId: null }]);
    expect(await shown({ status: 'entered-in-error' })).toMatchObject([{ state: 'cancelled' }]);
  });

  test.each([
    ['its own address', base, undefined],
    ['its own address, behind a proxy', base, 'https://proxy.example'],
    ['the address of the proxy', `https://proxy.example/${base}`, 'https://proxy.example'],
  ])('with references by %s', async (_, root, proxy) => {
    const at = (reference: string) => ({ actor: { reference: `${root}/${reference}` } });
    const participant = [at('Patient/1/_history/3'), at('Location/1'), at('Practitioner/1')];
    const { connector } = await connectorTo({
      answers: { 'Appointment/1': appointment('1', { participant }) },
      ...(proxy && { proxy }),
    });
    expect(await connector.findAppointments?.(careUnit, ['1'])).toMatchObject([{ patientId: '1', resourceId: '1' }]);
  });
});

describe('an appointment that names its patient by number only', () => {
  const byNumber = (value: string, system: string = identifierSystems.nhsNumber) => ({
    participant: [
      { actor: { identifier: { system, value }, display: 'Merry Meadow' }, status: 'accepted' },
      { actor: { reference: 'Location/1' }, status: 'accepted' },
      { actor: { reference: 'Practitioner/1', display: 'Dr One' }, status: 'accepted' },
    ],
  });
  const opened = (more: Json, patients: readonly Json[] = [patient]) => {
    const record = appointment('1', more);
    const answers = { 'Patient/1/Appointment': bundle([record, appointment('2')]), 'Appointment/1': record };
    return connectorTo({ answers: { ...answers, 'Patient?': bundle(patients) } });
  };

  test.each(['9990000018', '999 000 0018'])('is one of the patient with that number: %s', async (number) => {
    const { connector, leftOut } = await opened(byNumber(number));
    const shown = { id: '1', patientId: '1', resourceId: '1', resourceName: 'Dr One' };
    expect(await connector.listAppointments?.(ofPatient)).toMatchObject([shown, { id: '2' }]);
    expect(await connector.findAppointments?.(careUnit, ['1'])).toMatchObject([shown]);
    expect(leftOut).toEqual([]);
  });

  test.each<[string, Json, readonly Json[]]>([
    ['whom the practice does not have', byNumber('9990000018'), []],
    ['whom the practice has twice', byNumber('9990000018'), [patient, { ...patient, id: '2' }]],
    ['who cannot be read', byNumber('9990000018'), [{ ...patient, active: 'yes' }]],
    ['with a number of another kind', byNumber('9990000018', 'urn:other'), [patient]],
    ['with no valid number', byNumber('9990000019'), [patient]],
    ['who is named by an identifier of another shape', { participant: [{ actor: { identifier: [7] } }] }, [patient]],
  ])('is left out for a patient %s, and hides no other', async (_, more, patients) => {
    const { connector, leftOut } = await opened(more, patients);
    expect(await connector.listAppointments?.(ofPatient)).toMatchObject([{ id: '2' }]);
    expect(leftOut).toMatchObject([{ type: 'Appointment', path: expect.stringMatching(/^\/participant/) }]);
    await expect(connector.findAppointments?.(careUnit, ['1'])).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('is not one of the patient whose list it is in, if the number is of another one', async () => {
    const other = { ...patient, id: '2', identifier: [{ system: identifierSystems.nhsNumber, value: '9990000026' }] };
    const { connector } = await opened(byNumber('9990000026'), [other]);
    expect(await connector.listAppointments?.(ofPatient)).toMatchObject([{ id: '2' }]);
    expect(await connector.findAppointments?.(careUnit, ['1'])).toMatchObject([{ patientId: '2' }]);
  });
});
