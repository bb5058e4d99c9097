/** @module-tag any-database */
import type { Appointment, Bundle, OperationOutcome, Practitioner, Resource, Schedule, Slot } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient } from './test-requests.ts';

const gateway = await startGateway({
  configure: (it) => ({
    ...it,
    emrs: it.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((careUnit) =>
        careUnit.id === 'bergen-nord' ? { ...careUnit, time_zone: 'America/Santiago' } : careUnit,
      ),
    })),
  }),
});
afterAll(() => gateway.close());

const norway = fhirClient(gateway, oslo);
const chile = fhirClient(gateway, '/api/emrs/sandbox-no/care-units/bergen-nord');
const find = <Found extends Resource = Resource>(path: string, client = norway) =>
  client.get<Bundle<Found>>(path.replaceAll('|', '%7C'));
const form = (path: string, fields: Record<string, string>) =>
  gateway.request<Bundle>('POST', `${norway.base}${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const idsIn = ({ body: { entry = [] } }: { readonly body: Bundle }) => entry.map(({ resource }) => resource?.id);

const [slot] = await norway.slots(1);
const { body: booked } = await norway.post('/Appointment', bookingOf(slot, 'p-1'));
const day = booked.start?.slice(0, 10) ?? '';

describe('a token', () => {
  const ofStatus = async (status: string) => idsIn(await find(`/Appointment?patient=p-1&status=${status}`));

  test.each([
    'booked',
    'http://hl7.org/fhir/appointmentstatus|booked',
    'http://hl7.org/fhir/appointmentstatus|',
    '|booked',
    'cancelled,http://hl7.org/fhir/appointmentstatus|booked',
    'urn:oid:1.2.3|cancelled,booked',
  ])('of status can be %s', async (status) => {
    expect(await ofStatus(status)).toEqual([booked.id]);
  });

  test('of another system finds nothing', async () => {
    expect(await ofStatus('urn:oid:1.2.3|booked')).toEqual([]);
    expect((await find('/Slot?status=urn:oid:1.2.3|free')).body.total).toBe(0);
    expect((await find('/Practitioner?active=urn:oid:1.2.3|true')).body.total).toBe(0);
  });

  test('of other types has a system, too', async () => {
    const { total } = (await find(`/Slot?start=${day}&status=http://hl7.org/fhir/slotstatus|free&_summary=count`)).body;
    expect(total).toBe((await find(`/Slot?start=${day}&_summary=count`)).body.total);
    expect(total).toBeGreaterThan(0);
    expect(idsIn(await find(`/Slot?_id=${slot?.id}&status=http://hl7.org/fhir/slotstatus|busy`))).toEqual([slot?.id]);
    for (const type of ['Practitioner', 'HealthcareService', 'Schedule']) {
      const active = await find(`/${type}?active=http://terminology.hl7.org/CodeSystem/special-values|true`);
      expect(idsIn(active)).toEqual(idsIn(await find(`/${type}?active=true`)));
      expect(idsIn(active)).not.toEqual([]);
      expect(idsIn(await find(`/${type}?active=false`))).toEqual([]);
    }
  });
});

describe('escaped signs', () => {
  const named = async (name: string) => idsIn(await find(`/Practitioner?name=${encodeURIComponent(name)}`));

  test('are part of a value, and unescaped ones separate', async () => {
    const { body } = await find<Resource & { readonly name?: readonly { readonly text?: string }[] }>('/Practitioner');
    const [first = '', second = ''] = (body.entry ?? []).map(({ resource }) => resource?.name?.[0]?.text ?? '');
    expect(await named(`${first},${second}`)).toHaveLength(2);
    expect(await named(`${first}\\,${second}`)).toEqual([]);
    expect(await named('\\$')).toEqual([]);
  });

  test('belong to an identifier', async () => {
    const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
    const plain = await form('/Patient/_search', { identifier: `${system}|15859000026` });
    expect(idsIn(plain)).toEqual(['p-1']);
    // A colon and digits need no escape, and a bar that is escaped separates nothing.
    const escaped = await form('/Patient/_search', { identifier: `${system}\\|15859000026` });
    expect(escaped.status).toBe(400);
    const both = await form('/Patient/_search', { family: 'A,B', birthdate: '1974-01-30' });
    expect(both.status).toBe(400);
    expect((await form('/Patient/_search', { family: 'A\\,B', birthdate: '1974-01-30' })).body.total).toBe(0);
  });

  test('separate the code of a service from its system, or do not', async () => {
    const of = async (type: string) => idsIn(await find(`/HealthcareService?service-type=${encodeURIComponent(type)}`));
    expect(await of('urn:crossward:healthcare-service|consultation')).toEqual(['consultation']);
    expect(await of('urn:crossward:healthcare-service\\|consultation')).toEqual([]);
    expect(await of('consultation,vaccination')).toHaveLength(2);
    expect(await of('consultation\\,vaccination')).toEqual([]);
  });
});

describe('dates', () => {
  const dated = (start: string, path = '/Slot?start=') => chile.get<Bundle | OperationOutcome>(`${path}${start}`);

  test.each([
    '2029-09-02',
    'ge2029-09-02',
    'le2029-09-02',
    'gt2029-09-01',
    'lt2029-09-02',
    '2029-09-02T00:00',
    'ge2029-09-02T00:30:00',
    'eb2029-09-02T00:59:59.5',
    'sa2029-09-02T00:00',
  ])('%s is searched for where that day has no midnight', async (value) => {
    expect((await dated(`${value}&start=ge2029-09-01&_count=1`)).status).toBe(200);
    expect((await dated(`${value}&patient=p-1`, '/Appointment?date=')).status).toBe(200);
    expect((await dated(value, '/Schedule?date=')).status).toBe(200);
  });

  test('that are far away are an open end', async () => {
    const all = idsIn(await find('/Appointment?patient=p-1'));
    const far = ['date=ge0001-01-01&date=le9999-12-31', 'date=lt9999', 'date=ge0001-01-01T00:00:00Z'];
    for (const query of far) expect(idsIn(await find(`/Appointment?patient=p-1&${query}`)), query).toEqual(all);
    expect(idsIn(await find(`/Appointment?date=ge${day}&date=le9999-12-31`))).toContain(booked.id);
    for (const query of ['date=9999-12-31', 'date=0001', 'date=ge9999-01-01', 'date=lt0100-01-01']) {
      expect((await find(`/Appointment?patient=p-1&${query}`)).body.total, query).toBe(0);
    }
    const slots = await find<Slot>(`/Slot?start=ge${day}&start=le9999-12-31&_count=2`);
    expect(slots.body.entry).toHaveLength(2);
    expect((await find('/Slot?start=9999-12-31')).body.total).toBe(0);
    expect((await find('/Schedule?date=le9999-12-31')).status).toBe(200);
    expect((await form('/Patient/_search', { family: 'X', birthdate: '9999-12-31' })).body.total).toBe(0);
    expect((await form('/Patient/_search', { family: 'X', birthdate: '0001-01-01' })).body.total).toBe(0);
    expect((await find('/Appointment?patient=p-1&date=9999-02-30')).status).toBe(400);
  });

  test('of a body are those of the calendar', async () => {
    const { slot: _, ...rest } = bookingOf(slot, 'p-1');
    const participant = [
      ...rest.participant,
      { actor: { reference: 'Practitioner/r-1' }, status: 'accepted' as const },
      { actor: { reference: 'HealthcareService/consultation' }, status: 'accepted' as const },
    ];
    const book = (start: string, end: string) => norway.post('/Appointment', { ...rest, participant, start, end });
    for (const [start = '', end = ''] of [
      ['9999-12-31T10:00:00+01:00', '9999-12-31T10:30:00+01:00'],
      ['0001-01-01T10:00:00Z', '0001-01-01T10:30:00Z'],
      ['2027-02-30T10:00:00Z', '2027-02-30T10:30:00Z'],
    ]) {
      const { status, body } = await book(start, end);
      expect([status, (body as unknown as OperationOutcome).issue?.[0]?.expression]).toEqual([
        422,
        ['Appointment.start'],
      ]);
    }
  });
});

describe('an order', async () => {
  const [early, late] = await norway.slots(2);
  const { body: second } = await norway.post('/Appointment', bookingOf(late, 'p-2'));
  const { body: first } = await norway.post('/Appointment', bookingOf(early, 'p-2'));
  const both = [first.id, second.id];
  const orderOf = async (query: string) => idsIn(await find(`/Appointment?patient=p-2&${query}`));

  test('of Appointments is obeyed in both directions, also over pages and of ids', async () => {
    expect(await orderOf('_sort=date')).toEqual(both);
    expect(await orderOf('_sort=-date')).toEqual(both.toReversed());
    expect(idsIn(await find(`/Appointment?_id=${second.id},${first.id}&_sort=date`))).toEqual(both);
    expect(await orderOf('_sort=-date,_id')).toEqual(both.toReversed());
    expect(await orderOf('_sort=_id')).toEqual(await orderOf(''));
    const page = await find('/Appointment?patient=p-2&_sort=-date&_count=1');
    const next = page.body.link?.find(({ relation }) => relation === 'next')?.url ?? '';
    expect([idsIn(page), next.includes('_sort=-date')]).toEqual([[second.id], true]);
    const rest = await gateway.request<Bundle>('GET', next.slice(`http://127.0.0.1:${gateway.port}`.length));
    expect(idsIn(rest)).toEqual([first.id]);
    expect((await find('/Appointment?patient=p-2&_sort=-date&_summary=count')).body.total).toBe(2);
  });

  test('of what has a name is obeyed, and of Slots that of time', async () => {
    const namesBy = async (sort: string) =>
      (await find<Practitioner>(`/Practitioner?_sort=${sort}`)).body.entry?.map(
        ({ resource }) => resource?.name?.[0]?.text,
      );
    const up = await namesBy('name');
    const { compare } = new Intl.Collator('en');
    expect(up).toEqual(up?.toSorted((a = '', b = '') => compare(a, b)));
    expect(await namesBy('-name')).toEqual(up?.toReversed());
    expect(up?.length).toBeGreaterThan(1);
    expect((await find('/Device?_sort=device-name')).status).toBe(200);
    expect(idsIn(await find(`/Slot?_id=${late?.id},${early?.id}&_sort=start`))).toEqual([early?.id, late?.id]);
    expect((await find(`/Slot?start=${day}&_sort=start&_count=1`)).body.entry).toHaveLength(1);
  });

  test.each([
    ['/Appointment?patient=p-1', 'status'],
    ['/Appointment?patient=p-1', '_lastUpdated'],
    ['/Appointment?patient=p-1', 'date,status'],
    ['/Slot?schedule.actor=Practitioner/r-1', '-start'],
    ['/Schedule?active=true', 'name'],
    ['/Patient?_id=p-1', 'family'],
  ])('at %s of %s is refused, or ignored if the client asks for it', async (search, sort) => {
    const { status, body } = await norway.get<OperationOutcome>(`${search}&_sort=${sort}`);
    expect([status, body.issue?.[0]?.code, body.issue?.[0]?.expression]).toEqual([
      400,
      'not-supported',
      ['http._sort'],
    ]);
    const headers = { prefer: 'handling=lenient' };
    const lenient = await norway.get<Bundle>(`${search}&_sort=${sort}`, { headers });
    expect([lenient.status, lenient.body.link?.[0]?.url.includes('_sort')]).toEqual([200, false]);
  });
});

test('when a record was changed is not known, and a search for it is refused by name', async () => {
  const { status, body } = await norway.get<OperationOutcome>('/Appointment?patient=p-1&_lastUpdated=ge2026-01-01');
  expect([status, body.issue?.[0]?.code, body.issue?.[0]?.expression]).toEqual([
    400,
    'not-supported',
    ['http._lastUpdated'],
  ]);
});

describe('a reference', () => {
  test.each([
    'patient:Patient=p-1',
    'patient:Patient=Patient/p-1',
    'actor:Patient=p-1',
    'actor=Patient/p-1&actor:Practitioner=r-1',
    'actor=Patient/p-1&actor=Practitioner/r-1&actor=HealthcareService/consultation',
    'actor:Patient=p-1&practitioner:Practitioner=r-1,r-2',
    'patient=p-1&patient=Patient/p-1',
  ])('of %s finds the Appointment', async (query) => {
    expect(idsIn(await find(`/Appointment?${query}&status=booked`))).toEqual([booked.id]);
  });

  test.each([
    'patient=p-1&actor:Practitioner=r-1&actor:Practitioner=r-2',
    'actor=Patient/p-1&actor=Patient/p-2',
    'actor:Patient=p-1&actor:Location=nowhere',
  ])('of %s finds nobody who does all', async (query) => {
    expect((await find(`/Appointment?${query}`)).body.total).toBe(0);
  });

  test('to a type narrows Schedules and Slots, at the care unit and over all', async () => {
    const typed = '/Schedule?actor:Practitioner=r-1&actor:HealthcareService=consultation';
    const [schedule] = idsIn(await find(typed));
    expect(`Schedule/${schedule}`).toBe(slot?.schedule.reference);
    expect(idsIn(await find('/Schedule?actor:Device=r-1'))).toEqual([]);
    const slots = `/Slot?schedule:Schedule=${schedule}&schedule.actor:HealthcareService=consultation&schedule.actor=Practitioner/r-1&_count=1`;
    expect((await find(slots)).body.entry).toHaveLength(1);
    const everywhere = fhirClient(gateway, '/api');
    const all = (await find<Schedule>('/Schedule', everywhere)).body.entry?.map(({ resource }) => resource) ?? [];
    const actors = all.find((it) => it?.id?.endsWith(`.${schedule}`))?.actor.map(({ reference }) => reference) ?? [];
    expect(actors).toHaveLength(3);
    const found = await find(`/Schedule?${actors.map((it) => `actor=${it}`).join('&')}`, everywhere);
    expect(idsIn(found)).toEqual([all.find((it) => it?.id?.endsWith(`.${schedule}`))?.id]);
    const other = all.find((it) => it?.actor.every(({ reference }) => !actors.includes(reference)));
    const mixed = await find(`/Schedule?actor=${actors[0]}&actor=${other?.actor[0]?.reference}`, everywhere);
    expect([mixed.status, mixed.body.total, other !== undefined]).toEqual([200, 0, true]);
  });

  test.each([
    'actor:Patient=Practitioner/r-1',
    'actor:RelatedPerson=1',
    'status:Patient=booked',
    'patient:Practitioner=r-1',
  ])('of %s is refused', async (query) => {
    expect((await find(`/Appointment?patient=p-1&${query}`)).status).toBe(400);
  });
});

describe('the compartment of a patient', () => {
  test('has the Appointments of the patient', async () => {
    const found = await find('/Patient/p-1/Appointment?status=booked');
    expect(idsIn(found)).toEqual([booked.id]);
    expect(idsIn(await form('/Patient/p-1/Appointment/_search', { status: 'booked' }))).toEqual([booked.id]);
    const self = found.body.link?.[0]?.url ?? '';
    expect(idsIn(await gateway.request('GET', self.slice(`http://127.0.0.1:${gateway.port}`.length)))).toEqual([
      booked.id,
    ]);
    expect((await find('/Patient/p-2/Appointment?patient=p-1')).body.total).toBe(0);
    for (const nobody of ['nobody', 'p-1,p-2', '__']) {
      expect((await find(`/Patient/${nobody}/Appointment`)).body, nobody).toMatchObject({ total: 0 });
    }
  });

  test('needs the scope of Appointments, and has nothing else', async () => {
    expect((await norway.get('/Patient/p-1/Appointment', { client: 'patients:read' })).status).toBe(403);
    expect((await norway.get('/Patient/p-1/Slot')).status).toBe(404);
  });
});

test('many ids are all looked up, or too many are refused', async () => {
  const unknown = Array.from({ length: 40 }, (_, index) => `nobody-${index}`);
  for (const type of ['Patient', 'Appointment', 'Slot']) {
    const id = { Patient: 'p-1', Appointment: booked.id, Slot: slot?.id }[type];
    expect(idsIn(await find(`/${type}?_id=${[...unknown, id].join()}`)), type).toEqual([id]);
    const tooMany = await norway.get<OperationOutcome>(`/${type}?_id=${Array.from({ length: 101 }, (_, it) => it)}`);
    expect([tooMany.status, tooMany.body.issue?.[0]?.code, tooMany.body.issue?.[0]?.expression]).toEqual([
      400,
      'too-costly',
      ['http._id'],
    ]);
  }
  const patients = ['p-1', 'p-2', 'p-3', 'p-1'];
  expect(idsIn(await find(`/Patient?_id=${[...unknown, ...patients].join()}`))).toEqual(['p-1', 'p-2', 'p-3']);
});

test('ids are paged as all else is', async () => {
  const expected = ['p-3', 'p-1', 'p-2'];
  let page = await find(`/Patient?_id=${expected.join()}&_count=2`);
  expect([page.body.total, idsIn(page)]).toEqual([undefined, expected.slice(0, 2)]);
  const base = `http://127.0.0.1:${gateway.port}`;
  const next = page.body.link?.find(({ relation }) => relation === 'next')?.url ?? '';
  page = await gateway.request('GET', next.slice(base.length));
  expect(idsIn(page)).toEqual(['p-2']);
  expect(page.body.link?.map(({ relation }) => relation)).toEqual(['self']);
  expect((await find(`/Patient?_id=${expected.join()}&_summary=count`)).body.total).toBe(3);
  const busy = slot?.id?.replace(/\.\d+\./, '.1000000000.');
  expect(idsIn(await find(`/Slot?_id=${slot?.id},${busy}&_count=1`))).toEqual([slot?.id]);
  expect(idsIn(await find(`/Appointment?_id=nobody,${booked.id}&_count=1`))).toEqual([booked.id]);
});

test('a slash at the end of a path says nothing', async () => {
  for (const type of ['Practitioner', 'Location', 'HealthcareService', 'Schedule', 'Slot']) {
    const found = await find(`/${type}/?_count=1`);
    expect([type, found.status, found.body.entry?.[0]?.resource?.resourceType]).toEqual([type, 200, type]);
  }
  expect(idsIn(await find('/Appointment/?patient=p-1'))).toEqual([booked.id]);
  expect(idsIn(await find('/Patient/?_id=p-1'))).toEqual(['p-1']);
  expect((await norway.get<Appointment>(`/Appointment/${booked.id}/`)).body).toEqual(booked);
  for (const path of ['/Appointment/_search', '/Appointment/_search/']) {
    expect(idsIn(await form(path, { patient: 'p-1' }))).toEqual([booked.id]);
    expect(idsIn(await form(`${path}?patient=p-1`, { status: 'booked' }))).toEqual([booked.id]);
    expect(idsIn(await gateway.request<Bundle>('POST', `${norway.base}${path}?patient=p-1`))).toEqual([booked.id]);
  }
  expect((await norway.get('/Appointment//')).status).toBe(404);
  expect((await norway.get('/')).status).toBe(405);
  expect((await norway.post('/Appointment/$validate/', bookingOf(slot))).status).toBe(200);
});

describe('a search of few bytes', () => {
  const many = (count: number, name: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => name(index)).join(',');

  test.each([
    ['/Appointment/_search', { actor: many(501, (it) => `Device/d${it}`), date: 'ge2026-01-01' }],
    ['/Appointment/_search', { status: 'booked', patient: 'p-1', 'service-type': many(501, (it) => `s${it}`) }],
    ['/Slot/_search', { 'schedule.actor': many(501, (it) => `Device/d${it}`) }],
    ['/Schedule/_search', { actor: many(501, (it) => `Device/d${it}`) }],
    ['/Practitioner/_search', { name: many(501, (it) => `n${it}`) }],
    ['/HealthcareService/_search', { name: many(501, (it) => `n${it}`) }],
    ['/Patient/_search', { _id: many(501, (it) => `p-${it}`) }],
  ])('at %s names at most 500 values', async (path, fields) => {
    const { status, body } = await form(path, fields);
    expect([status, body.resourceType]).toEqual([400, 'OperationOutcome']);
    expect(JSON.stringify(body)).toContain('too-costly');
  });

  test('can name 500 values, and one as often as it likes', async () => {
    const named = await form('/Schedule/_search', { actor: many(500, (it) => `Device/d${it}`) });
    expect([named.status, named.body.total]).toEqual([200, 0]);
    expect((await form('/Schedule/_search', { actor: many(5_000, () => 'Device/d') })).status).toBe(200);
  });

  test.each(['start=ge2026-01-01', '_include=Slot:schedule'])('repeats %s at most 500 times', async (parameter) => {
    const { status } = await gateway.request('POST', `${norway.base}/Slot/_search`, {
      body: Array.from({ length: 501 }, () => parameter).join('&'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(status).toBe(400);
  });

  test('keeps its last parameter, however many there are', async () => {
    const { status, body } = await gateway.request<Bundle>('POST', `${norway.base}/Practitioner/_search`, {
      body: `${'_pretty=true&'.repeat(2_000)}name=nobody`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([status, body.total]).toEqual([200, 0]);
  });
});

test('times of appointments are busy Slots, without the patient, for who may read Appointments', async () => {
  const query = `/Slot?status=busy&start=${day}&schedule.actor=Practitioner/r-1&service-type=consultation`;
  const { status, body } = await find<Slot>(query);
  const found = body.entry?.map(({ resource }) => resource) ?? [];
  expect([status, found.map((it) => it?.status).filter((it) => it !== 'busy')]).toEqual([200, []]);
  expect(found.find((it) => it?.id === slot?.id)).toEqual((await norway.get(`/Slot/${slot?.id}`)).body);
  expect(JSON.stringify(body)).not.toContain('Patient');
  expect(idsIn(await find(`/Slot?status=busy&start=${day}`))).toContain(slot?.id);
  expect(idsIn(await find(`${query.replace('r-1', 'r-3')}`))).not.toContain(slot?.id);
  expect(idsIn(await find(query.replace('busy', 'free')))).not.toContain(slot?.id);
  const other = await norway.get<Bundle>(query, { client: 'resources:read' });
  expect([other.status, other.body.total]).toEqual([200, 0]);

  const free = (await norway.slots(1))[0];
  const { body: more } = await norway.post('/Appointment', bookingOf(free, 'p-1'));
  expect(idsIn(await find(`/Slot?status=busy&start=${more.start?.slice(0, 10)}`))).toContain(free?.id);
  await norway.patch(more.id, [{ op: 'replace', path: '/status', value: 'cancelled' }]);
  expect(idsIn(await find(`/Slot?status=busy&start=${more.start?.slice(0, 10)}`))).not.toContain(free?.id);
  const pages = await find(`${query.replace(day, `ge${day}`)}&_count=1`);
  expect([pages.status, pages.body.entry?.length]).toEqual([200, 1]);
});
