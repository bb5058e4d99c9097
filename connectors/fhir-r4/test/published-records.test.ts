import type { Appointment, Connector } from '@crossward/connector-kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FhirSettings } from '../src/settings.ts';
import { appointment, booked, everybody, openServer, people, practitioner, range } from './published-servers.ts';
import { openCounting } from './subject.ts';

const accepted = (actor: object) => ({ actor, status: 'accepted' });
const ofP1 = accepted({ reference: 'Patient/p1' });
const byD1 = accepted({ reference: 'Practitioner/d1' });
const room = { resourceType: 'Location', id: 'l1', status: 'active', name: 'Room 1' };
const half = 30 * 60_000;

/** The appointment `x` with these elements in place of the usual ones. */
const x = (elements: object) => ({ ...appointment('x', 'p1'), ...elements });

type Resource = Parameters<typeof openServer>[2] extends readonly (infer One)[] | undefined ? One : never;

async function open(more: readonly object[], settings: Partial<FhirSettings> = {}, surplus: readonly object[] = []) {
  const habits = { surplus: surplus.map((resource) => ({ resource })) };
  const opened = await openServer(habits, settings, more as readonly Resource[]);
  return { ...opened, read: () => readX(opened.connector) };
}

async function readX(connector: Connector): Promise<Appointment | undefined> {
  return (await connector.findAppointments?.(everybody, ['x']))?.[0];
}

/** The appointment `x`, which is also in the list of the patient. */
async function shown(elements: object, more: readonly object[] = []): Promise<Appointment | undefined> {
  const { read, connector } = await open([x(elements), ...more]);
  const found = await read();
  const list = await connector.listAppointments?.({ careUnit: everybody, patientId: 'p1', limit: 10 });
  expect(list?.find(({ id }) => id === 'x')).toEqual(found);
  expect(list?.map(({ id }) => id)).toContain('ok');
  return found;
}

describe('the resource of an appointment', () => {
  const named = (id: string) => practitioner(id, 'Moe');
  const busySlot = {
    resourceType: 'Slot',
    id: 'b1',
    schedule: { reference: 'Schedule/s1' },
    status: 'busy',
    start: booked.toISOString(),
    end: new Date(booked.getTime() + half).toISOString(),
  };

  test.each<[string, object, readonly object[], Partial<Appointment>]>([
    ['of its slot', { participant: [ofP1], slot: [{ reference: 'Slot/b1' }] }, [busySlot], { resourceId: 'd1' }],
    [
      'without a schedule',
      { participant: [ofP1, accepted({ reference: 'Practitioner/d9', display: 'Eva Moe' })] },
      [named('d9')],
      { resourceId: 'd9', resourceName: 'Eva Moe' },
    ],
    [
      'by its name alone, beside a room',
      { participant: [ofP1, accepted({ display: 'Dr Per Lind' }), accepted({ reference: 'Location/l1' })] },
      [room],
      { resourceId: null, resourceName: 'Dr Per Lind' },
    ],
    [
      'beside a room that has a schedule',
      { participant: [ofP1, accepted({ reference: 'Practitioner/d9' }), accepted({ reference: 'Location/l1' })] },
      [named('d9'), room, { resourceType: 'Schedule', id: 's2', actor: [{ reference: 'Location/l1' }] }],
      { resourceId: 'd9' },
    ],
    [
      'that is contained',
      {
        contained: [{ ...named('own'), id: 'own' }],
        participant: [ofP1, accepted({ reference: '#own' })],
      },
      [],
      { resourceId: null, resourceName: 'Per Moe' },
    ],
    [
      'of another server',
      { participant: [ofP1, accepted({ reference: 'https://other.example/fhir/Practitioner/d1', display: 'E. Moe' })] },
      [],
      { resourceId: null, resourceName: 'E. Moe' },
    ],
    [
      'that has declined',
      { participant: [ofP1, { ...byD1, status: 'declined' }] },
      [],
      { state: 'cancelled', resourceId: 'd1' },
    ],
    ['that nobody names', { participant: [ofP1] }, [], { resourceId: null, resourceName: null }],
  ])('is the one %s', async (_, elements, more, expected) => {
    expect(await shown(elements, more)).toMatchObject({ state: 'booked', patientId: 'p1', ...expected });
  });

  test('is the one that an identifier names', async () => {
    const number = { system: 'urn:oid:1.2.752.29.4.19', value: 'SE2321000016-1003' };
    const { read } = await open([
      { ...practitioner('d1', 'Lind'), identifier: [number] },
      x({ participant: [ofP1, accepted({ type: 'Practitioner', identifier: number })] }),
    ]);
    expect(await read()).toMatchObject({ resourceId: 'd1' });
  });

  test('is still shown when its schedule is deleted', async () => {
    const { server, settings, connector } = await open([x({})]);
    server.store.remove('Schedule/s1');
    const { connector: opened } = await openCounting(settings, [everybody]);
    for (const one of [connector, opened])
      expect(await readX(one)).toMatchObject({ state: 'booked', resourceId: 'd1' });
    expect(await connector.listAppointments?.({ careUnit: everybody, patientId: 'p1', limit: 10 })).toHaveLength(2);
  });
});

describe('the patient of an appointment', () => {
  const number = { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9449305552' };
  const withNumber = { resourceType: 'Patient', id: 'p1', active: true, identifier: [number] };

  test.each([
    ['identifier', { type: 'Patient', identifier: number }, {}],
    ['contained record', { reference: '#me' }, { contained: [{ ...withNumber, id: 'me' }] }],
  ])('can be named by %s', async (_, actor, elements) => {
    const { read } = await open([withNumber, x({ ...elements, participant: [accepted(actor), byD1] })]);
    expect(await read()).toMatchObject({ patientId: 'p1', resourceId: 'd1' });
  });

  test.each(['patient', 'actor'] as const)(
    'named by identifier is in the list of the patient, found by %s',
    async (by) => {
      const byNumber = x({ participant: [accepted({ type: 'Patient', identifier: number }), byD1] });
      const { server, ofPatient } = await open([withNumber, byNumber], { patient_identifier_search: by });
      expect(await ofPatient('p1')).toEqual(['ok', 'x']);
      expect(await ofPatient('p2')).toEqual([]);
      expect(server.seen.some(({ query }) => query.includes(`${by}%3Aidentifier=`))).toBe(true);
    },
  );

  test('named by identifier costs no further request without the setting', async () => {
    const { server, ofPatient, resources } = await open([withNumber]);
    await resources();
    server.seen.splice(0);
    expect(await ofPatient('p1')).toEqual(['ok']);
    expect(server.seen.filter(({ path }) => path === '/Appointment')).toHaveLength(1);
    expect(server.seen.some(({ query }) => query.includes('identifier'))).toBe(false);
  });

  test('is not guessed if two records have the identifier', async () => {
    const { read } = await open([
      withNumber,
      { ...withNumber, id: 'p9' },
      x({ participant: [accepted({ type: 'Patient', identifier: number }), byD1] }),
    ]);
    expect(await read()).toBeUndefined();
  });

  test.each(['https://other.example/fhir/Patient/p2', 'https://other.example/fhir/Patient/p2/_history/1'])(
    'is not the local one with the same id: %s',
    async (reference) => {
      const { read, ofPatient, ofResource } = await open([x({ participant: [accepted({ reference }), byD1] })]);
      expect(await read()).toBeUndefined();
      expect(await ofPatient('p2')).toEqual([]);
      expect(await ofResource('d1')).toEqual(['ok']);
    },
  );

  test('is the local one under a base that the settings name', async () => {
    const reference = 'https://Inside.example:443/r4/Patient/p1/_history/2';
    const own_base_urls = ['https://inside.example/r4/'];
    const { read } = await open([x({ participant: [accepted({ reference }), byD1] })], { own_base_urls });
    expect(await read()).toMatchObject({ patientId: 'p1' });
  });

  test('who has declined has no appointment any more', async () => {
    expect(await shown({ participant: [{ ...ofP1, status: 'declined' }, byD1] })).toMatchObject({ state: 'cancelled' });
  });
});

describe('the end of an appointment', () => {
  const end = new Date(booked.getTime() + half);

  test.each<[string, object, Date | null, number | undefined]>([
    [
      'the duration of the record',
      { end: undefined, minutesDuration: 20 },
      new Date(booked.getTime() + 20 * 60_000),
      45,
    ],
    ['that of its slot', { end: undefined, slot: [{ reference: 'Slot/f9' }] }, end, 45],
    ['that of its service', { end: booked.toISOString() }, new Date(booked.getTime() + 45 * 60_000), 45],
    ['not known', { end: booked.toISOString() }, null, undefined],
  ])('is %s', async (_, elements, expected, duration_minutes) => {
    const service = { id: 'visit', name: 'Visit', ...(duration_minutes === undefined ? {} : { duration_minutes }) };
    const slotAt = {
      resourceType: 'Slot',
      id: 'f9',
      schedule: { reference: 'Schedule/s1' },
      status: 'busy',
      start: booked.toISOString(),
      end: end.toISOString(),
    };
    const { read } = await open([x({ serviceType: [{ text: 'Visit' }], ...elements }), slotAt], {
      healthcare_services: [service],
    });
    expect(await read()).toMatchObject({ start: booked, end: expected });
  });
});

test('the service of an appointment is never the only one that is configured', async () => {
  const healthcare_services = [{ id: 'vaccination', name: 'V', service_types: [{ system: 'urn:s', code: '57' }] }];
  const concept = (code: string) => ({ serviceType: [{ coding: [{ system: 'urn:s', code }], text: 'Surgery' }] });
  for (const [elements, expected] of [
    [concept('52'), null],
    [concept('57'), 'vaccination'],
    [{}, null],
  ] as const) {
    const { read } = await open([x(elements)], { healthcare_services });
    expect(await read()).toMatchObject({ healthcareServiceId: expected });
  }
});

describe('a record of a wrong shape', () => {
  test.each<[string, object, string]>([
    ['an object for a list', x({ participant: { actor: { reference: 'Patient/p1' } } }), '/participant'],
    ['a service type of DSTU2', x({ serviceType: { coding: [{ code: '52' }] } }), '/serviceType'],
    ['a number for a string', x({ status: 1 }), '/status'],
    ['a string for a number', x({ minutesDuration: '30' }), '/minutesDuration'],
    ['null in a list of objects', x({ participant: [null, ofP1] }), '/participant/0'],
  ])('is left out and counted, and the others are answered: %s', async (_, record, path) => {
    const { ofPatient, ofResource, times, resources, connector, leftOut } = await open([], {}, [record]);
    expect(await ofPatient('p1')).toEqual(['ok']);
    expect(await ofResource('d1')).toEqual(['ok']);
    expect(await resources()).toEqual(['d1']);
    expect(await times()).toHaveLength(2);
    await connector.listAppointments?.({ careUnit: everybody, patientId: 'p1', limit: 10 });
    expect(leftOut).toContainEqual({ type: 'Appointment', id: 'x', path });
  });

  test('is refused with the place of the fault if it is read by itself', async () => {
    const { read } = await open([x({ minutesDuration: '30' })]);
    const message = expect.stringContaining('Appointment that cannot be read, at /minutesDuration');
    await expect(read()).rejects.toMatchObject({ kind: 'rejected', message });
  });

  test('is refused if its start cannot be read, and is not taken for missing', async () => {
    const { read } = await open([x({ start: '2027-02-02T09:00:00' })]);
    await expect(read()).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('/start') });
  });

  test('is not taken for missing if it is named beside others', async () => {
    const { connector } = await open([x({ minutesDuration: '30' })]);
    const reading = connector.findAppointments?.(everybody, ['ok', 'x']);
    await expect(reading).rejects.toMatchObject({ kind: 'rejected' });
  });

  test.each<[string, object]>([
    ['Schedule', { resourceType: 'Schedule', id: 's5', actor: { reference: 'Practitioner/d1' } }],
    ['Practitioner', { ...practitioner('d2', 'Moe'), name: 'Moe' }],
    ['Slot', { resourceType: 'Slot', id: 'f9', schedule: 'Schedule/s1', status: 'free' }],
    ['Appointment', { ...x({}), id: undefined }],
    ['Slot', { resourceType: 'Slot', schedule: { reference: 'Schedule/s1' }, status: 'free' }],
  ])('hides no resource, time or appointment: %s', async (type, record) => {
    const { resources, times, ofPatient, connector, leftOut } = await open([], {}, [record]);
    expect(await resources()).toContain('d1');
    expect(await times()).toHaveLength(2);
    expect(await ofPatient('p1')).toEqual(['ok']);
    await connector.listAppointments?.({ careUnit: everybody, patientId: 'p1', limit: 10 });
    await connector.listTimeSlots?.({ careUnit: everybody, ...range, limit: 10 });
    expect(leftOut.map((it) => it.type)).toContain(type);
  });

  test('hides nothing of its schedule: a practitioner that may not be read', async () => {
    const { resources } = await open([
      { ...practitioner('d2', 'Moe'), name: 'Moe' },
      { resourceType: 'Schedule', id: 's2', active: true, actor: [{ reference: 'Practitioner/d2' }] },
    ]);
    expect(await resources()).toEqual(['d1']);
  });

  describe('of a patient', () => {
    const system = 'https://fhir.nhs.uk/Id/nhs-number';
    const number = { type: 'nhs_number', value: '9449305552' } as const;
    const birthDate = '1980-02-03';
    const byName = { familyName: 'Vik', birthDate, limit: 10 };
    const own = { ...people[0], birthDate, identifier: [{ system, value: number.value }] };
    const wrongs: readonly [string, object, string][] = [
      ['an object for a list of names', { name: { family: 'Vik' } }, '/name'],
      ['a text for its phone numbers', { telecom: '+4790000001' }, '/telecom'],
      ['a number for a number', { identifier: [{ system, value: 9449305552 }] }, '/identifier/0/value'],
      ['a text for a boolean', { active: 'yes' }, '/active'],
      ['no id', { id: undefined }, '/id'],
    ];

    test.each(wrongs)('hides no patient beside it, and is counted: %s', async (_, elements, path) => {
      const { connector, leftOut } = await open([own], {}, [{ ...own, id: 'p9', ...elements }]);
      const counted = expect.objectContaining({ type: 'Patient', path });
      expect(await connector.searchPatients?.(byName)).toMatchObject([{ id: 'p1' }]);
      expect(leftOut).toContainEqual(counted);
      leftOut.splice(0);
      expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p1' });
      expect(leftOut).toContainEqual(counted);
    });

    test.each(wrongs)('is not taken for nobody if nobody else has the number: %s', async (_, elements) => {
      const { connector } = await open([], {}, [{ ...own, id: 'p9', ...elements }]);
      await expect(connector.findPatient?.(number)).rejects.toMatchObject({ kind: 'rejected' });
    });
  });

  test('of a patient is neither found nor guessed', async () => {
    const { connector } = await open([{ resourceType: 'Patient', id: 'p3', name: { family: 'Vik' } }]);
    const reading = connector.findPatient?.({ type: 'emr_id', value: 'p3' });
    await expect(reading).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('/name') });
  });
});

test('null is like a missing element', async () => {
  const address = [{ line: [null, 'Storgata 1'], _line: [{ extension: [{ url: 'urn:masked' }] }, null], city: 'Oslo' }];
  const { connector, read } = await open([
    { resourceType: 'Patient', id: 'p3', name: null, telecom: null, identifier: null, address },
    { ...practitioner('d2', 'Moe'), name: null },
    { resourceType: 'Schedule', id: 's2', active: true, actor: [{ reference: 'Practitioner/d2' }] },
    x({ comment: null, serviceType: null, minutesDuration: null }),
  ]);
  const patient = await connector.findPatient?.({ type: 'emr_id', value: 'p3' });
  expect(patient).toMatchObject({ familyName: null, address: { lines: ['Storgata 1'] } });
  expect((await connector.listResources?.(everybody))?.map(({ id }) => id)).toEqual(['d1', 'd2']);
  expect(await read()).toMatchObject({ state: 'booked', comment: null });
});

describe('every way in which a valid record can be broken', () => {
  const valid: readonly object[] = [
    {
      ...x({
        meta: { versionId: '2', lastUpdated: new Date().toISOString() },
        serviceType: [{ coding: [{ system: 'urn:s', code: '1' }] }],
        slot: [{ reference: 'Slot/f1' }],
      }),
    },
    { ...practitioner('d7', 'Moe'), telecom: [{ system: 'phone', value: '+4722000001' }] },
    { resourceType: 'Schedule', id: 's7', active: true, actor: [{ reference: 'Practitioner/d7' }] },
    {
      resourceType: 'Slot',
      id: 'f7',
      schedule: { reference: 'Schedule/s1' },
      status: 'free',
      start: new Date(range.start.getTime() + half).toISOString(),
      end: new Date(range.start.getTime() + 2 * half).toISOString(),
    },
    { resourceType: 'HealthcareService', id: 'h7', active: true, name: 'X', type: [{ text: 'X' }] },
    { resourceType: 'PractitionerRole', id: 'r7', active: true, practitioner: { reference: 'Practitioner/d7' } },
    { resourceType: 'Location', id: 'l7', status: 'active', name: 'Room 7' },
    {
      resourceType: 'Patient',
      id: 'p7',
      active: true,
      meta: { versionId: '1', lastUpdated: '2026-01-01T00:00:00Z' },
      identifier: [{ system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9990000018', period: { start: '2020' } }],
      name: [{ use: 'official', family: 'Vik', given: ['Nora'], period: { start: '2020-01-01' } }],
      telecom: [{ system: 'phone', use: 'mobile', value: '+4790000001', rank: 1 }],
      birthDate: '1980-02-03',
      address: [{ line: ['Storgata 1'], city: 'Oslo', country: 'NO' }],
      link: [{ type: 'replaces', other: { reference: 'Patient/p2' } }],
    },
  ];
  const wrong = fc.constantFrom<unknown>(null, {}, [], [null], [[]], 17, true, '', 'x', { value: 1 }, [{}], ['x']);
  /** As an entry of a list, which can be broken too. */
  const entries = valid.map((resource) => ({ resource, search: { mode: 'match' } }));
  const broken = fc.constantFrom(...entries).chain((entry) =>
    fc.record({
      entry: fc.constant(entry),
      path: fc.constantFrom(...placesIn(entry)),
      to: fc.option(wrong, { nil: undefined }),
    }),
  );

  test('hides nothing that is good', async () => {
    const surplus: unknown[] = [];
    const nora = { ...people[0], birthDate: '1980-02-03', telecom: [{ system: 'phone', value: '+4790000001' }] };
    const number = { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9449305552' };
    const opened = await openServer({ surplus }, {}, [{ ...nora, identifier: [number] } as Resource]);
    const { next: beginning } = await changesAfter(opened.connector, undefined);
    const shownNow = async () => {
      // The directory is read anew by each connector.
      const { connector } = await openCounting(opened.settings, [everybody]);
      const ids = (found: readonly { readonly id: string }[] | undefined) => (found ?? []).map(({ id }) => id);
      return {
        resources: ids(await connector.listResources?.(everybody)),
        appointments: ids(await connector.listAppointments?.({ careUnit: everybody, patientId: 'p1', limit: 10 })),
        ofD1: ids(await connector.listAppointments?.({ careUnit: everybody, resourceId: 'd1', range, limit: 10 })),
        byName: ids(await connector.searchPatients?.({ familyName: 'Vik', birthDate: '1980-02-03', limit: 10 })),
        byPhone: ids(await connector.searchPatients?.({ phone: '+4790000001', limit: 10 })),
        byNumber: [(await connector.findPatient?.({ type: 'nhs_number', value: number.value }))?.id],
        changes: await allChanges(connector, beginning),
        times: (await connector.listTimeSlots?.({ careUnit: everybody, ...range, limit: 50 }))?.map(
          ({ start }) => start,
        ),
      };
    };
    const good = await shownNow();
    expect(good).toMatchObject({ resources: ['d1'], appointments: ['ok'], ofD1: ['ok'], changes: ['ok'] });
    expect(good).toMatchObject({ byName: ['p1'], byPhone: ['p1'], byNumber: ['p1'] });
    await fc.assert(
      fc.asyncProperty(broken, async ({ entry, path, to }) => {
        surplus.splice(0, surplus.length, replaced(entry, path, to));
        for (const [name, shown] of Object.entries(await shownNow())) {
          expect(shown, name).toEqual(expect.arrayContaining([...(good[name as keyof typeof good] ?? [])]));
        }
      }),
      { numRuns: 200 },
    );
  });

  async function changesAfter(connector: Connector, after: string | undefined) {
    const page = await connector.listAppointmentChanges?.({ careUnits: [everybody], after, limit: 10 });
    if (!page) throw new Error('The connector does not report changes');
    return page;
  }

  /** The ids in all pages. */
  async function allChanges(connector: Connector, beginning: string): Promise<string[]> {
    const ids: string[] = [];
    let after = beginning;
    for (let calls = 0; calls < 10; calls++) {
      const { changes, next, hasMore } = await changesAfter(connector, after);
      ids.push(...changes.map(({ appointment: { id } }) => id));
      if (!hasMore) return ids;
      after = next;
    }
    throw new Error('The changes do not end');
  }

  /** The paths of all members and items, at every depth. */
  function placesIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
    if (typeof value !== 'object' || value === null) return [];
    const inside = Array.isArray(value) ? value.map((it, index) => [index, it] as const) : Object.entries(value);
    return inside.flatMap(([name, it]) => [[...path, name], ...placesIn(it, [...path, name])]);
  }

  function replaced(value: unknown, [name, ...rest]: readonly (string | number)[], to: unknown): unknown {
    if (name === undefined) return to;
    const copy = structuredClone(value) as Record<string | number, unknown>;
    copy[name] = replaced(copy[name], rest, to);
    return copy;
  }
});
