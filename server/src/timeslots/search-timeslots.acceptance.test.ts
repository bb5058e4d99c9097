/** @module-tag any-database */
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, local, oslo, type Slot } from '../../../test/requests/bookings.ts';

const serviceTypes = 'http://terminology.hl7.org/CodeSystem/service-type';

/** Searches of EHRs, and what the test does with them. */
const ehrs = { calls: 0, holdUp: new Map<string, Promise<void>>(), fail: new Set<string>(), lose: new Set<string>() };

function watched(connector: Connector, emr: string): Connector {
  return {
    ...connector,
    ...(emr === 'by-patient' && { capabilities: { ...connector.capabilities, slotsByPatient: 'required' as const } }),
    async listTimeSlots(query) {
      ehrs.calls++;
      await ehrs.holdUp.get(emr);
      if (ehrs.fail.has(emr)) throw new ConnectorError('unavailable', 'The test lets it fail');
      return (await connector.listTimeSlots?.(query)) ?? [];
    },
    async changeAppointments(write) {
      const changed = await connector.changeAppointments?.(write);
      if (ehrs.lose.has(emr)) throw new ConnectorError('outcome_unknown', 'The test loses the answer');
      return changed ?? [];
    },
    async addScheduleException(write) {
      const changed = await connector.addScheduleException?.(write);
      if (ehrs.lose.has(emr)) throw new ConnectorError('outcome_unknown', 'The test loses the answer');
      if (!changed) throw new Error('The sandbox writes schedules');
      return changed;
    },
    async findScheduleWrite(...write) {
      if (ehrs.lose.has(emr)) throw new ConnectorError('unavailable', 'The test lets it fail');
      return (await connector.findScheduleWrite?.(...write)) ?? null;
    },
    async findOperation(...operation) {
      if (ehrs.lose.has(emr)) throw new ConnectorError('unavailable', 'The test lets it fail');
      return (await connector.findOperation?.(...operation)) ?? null;
    },
  };
}

const gateway = await startGateway({
  connectors: [wrapConnector(watched)],
  configure: (configuration) => ({
    ...withEhr(configuration, { id: 'by-patient', like: 'sandbox-uk', policies: {} }),
    services: [
      {
        code: 'talk',
        name: 'A talk',
        healthcare_services: [
          { emr: 'sandbox-no', ids: ['consultation'] },
          { emr: 'sandbox-uk', care_unit: 'hillview', ids: ['consultation'] },
        ],
      },
      { code: 'jab', name: 'A jab', codes: [{ system: serviceTypes, code: '57' }] },
    ],
    limits: { ...configuration.limits, requests_per_minute: 100_000 },
  }),
});
const other = await startGateway({ beside: gateway });
afterAll(async () => {
  await other.close();
  await gateway.close();
});
beforeEach(() => {
  ehrs.holdUp.clear();
  ehrs.fail.clear();
  ehrs.lose.clear();
});

interface Found extends Omit<Slot, 'resource_id'> {
  readonly emr: string;
  readonly care_unit_id: string;
  readonly resource: { readonly id: string; readonly name: string | null };
  readonly as_of: string;
}

interface Response extends Problem {
  readonly timeslots: readonly Found[];
  readonly unanswered: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

const dayMs = 24 * 60 * 60 * 1000;
/** The early morning of a Monday, in more than a week. */
const start = new Date(Date.now() + 9 * dayMs);
start.setUTCDate(start.getUTCDate() + ((8 - start.getUTCDay()) % 7));
start.setUTCHours(5, 0, 0, 0);
const range = { start: start.toISOString(), end: new Date(start.getTime() + 10 * dayMs).toISOString() };
const careUnits = [
  ['sandbox-no', 'bergen-nord'],
  ['sandbox-no', 'oslo-sentrum'],
  ['sandbox-se', 'sodermalm'],
  ['sandbox-uk', 'riverside'],
] as const;
const all = careUnits.map(([emr, care_unit_id]) => ({ emr, care_unit_id }));
const pathOf = (emr: string, careUnitId: string) => `/api/emrs/${emr}/care-units/${careUnitId}`;

async function search(body: object, options: RequestOptions = {}, at = gateway): Promise<Response> {
  const sent = { care_units: all, ...range, ...body };
  const response = await at.request<Response>('POST', '/api/timeslots/search', { body: sent, ...options });
  expect(response.status, response.text).toBe(200);
  return response.body;
}

async function refused(body: object, options: RequestOptions = {}) {
  const sent = { care_units: all, ...range, ...body };
  const { status, body: problem } = await gateway.request<Problem>('POST', '/api/timeslots/search', {
    body: sent,
    ...options,
  });
  return { status, reason: problem.reason, pointer: problem.errors[0]?.pointer };
}

const keyOf = ({ emr, care_unit_id, start: at, resource, healthcare_service_id }: Found) =>
  [new Date(at).toISOString(), emr, care_unit_id, resource.id, healthcare_service_id].join(' ');

/** The time of the resource, whatever the service. */
const placeOf = (found: Found) => keyOf({ ...found, healthcare_service_id: '' });

/** What each care unit lists itself, as keys in order. */
async function listed(units: readonly (readonly [string, string])[] = careUnits): Promise<string[]> {
  const lists = await Promise.all(
    units.map(async ([emr, careUnit]) => {
      const slots: Slot[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = new URLSearchParams({ ...range, limit: '500', ...(cursor ? { cursor } : {}) });
        const path = `${pathOf(emr, careUnit)}/timeslots?${query}`;
        const response = await other.request<{ timeslots: Slot[]; next_cursor: string | null }>('GET', path);
        slots.push(...response.body.timeslots);
        cursor = response.body.next_cursor;
      }
      return slots.map(({ resource_id, ...slot }) =>
        keyOf({ ...slot, emr, care_unit_id: careUnit, resource: { id: resource_id, name: null }, as_of: '' }),
      );
    }),
  );
  return lists.flat().sort();
}

async function pages(body: object, meanwhile: (page: Response) => Promise<void> = async () => undefined) {
  const found: Found[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Response = await search({ ...body, ...(cursor ? { cursor } : {}) });
    found.push(...page.timeslots);
    cursor = page.next_cursor;
    await meanwhile(page);
  }
  return found;
}

function tryToBook({ emr, care_unit_id, start: from, end, resource, healthcare_service_id }: Found, at = other) {
  return at.request<Appointment>('POST', `${pathOf(emr, care_unit_id)}/appointments`, {
    body: {
      patient_id: 'p-3',
      resource_id: resource.id,
      healthcare_service_id,
      start_time: local(from),
      end_time: local(end),
    },
  });
}

async function bookFound(slot: Found) {
  const response = await tryToBook(slot);
  expect(response.status, response.text).toBe(201);
  return response.body;
}

const cancel = (emr: string, careUnit: string, id: string) =>
  other.request('PATCH', `${pathOf(emr, careUnit)}/appointments/${id}`, { body: { status: 'cancelled' } });

describe('the merged list', () => {
  test('has the slots of all care units in order, each once, over all pages', async () => {
    const found = await pages({ limit: 170 });
    expect(found.map(keyOf)).toEqual(await listed());
    expect(found[0]).toEqual({
      emr: expect.any(String),
      care_unit_id: expect.any(String),
      start: expect.stringMatching(/T\d\d:\d\d:00[+]\d\d:00$/),
      end: expect.any(String),
      resource: { id: expect.stringMatching(/^emr_id:/), name: expect.any(String) },
      healthcare_service_id: expect.any(String),
      modality: null,
      as_of: expect.stringMatching(/Z$/),
    });
  });

  test('without care units, has all that the client is granted, and no other', async () => {
    const { timeslots } = await search({ care_units: undefined, limit: 500 }, { client: 'narrowed' });
    expect(new Set(timeslots.map(({ care_unit_id }) => care_unit_id))).toEqual(new Set(['oslo-sentrum']));
  });

  test('has the first slots of each care unit, if that is asked for', async () => {
    const found = await pages({ per_care_unit: 3, limit: 5 });
    const keys = await listed();
    const firsts = careUnits.flatMap(([emr, careUnit]) =>
      keys.filter((key) => key.includes(` ${emr} ${careUnit} `)).slice(0, 3),
    );
    expect(found.map(keyOf)).toEqual(firsts.sort());
  });

  test('has as many of each care unit over all pages, when some are booked or become free between them', async () => {
    const unit = { ...all[1], healthcare_service_ids: ['consultation'] };
    const wanted = { care_units: [unit], per_care_unit: 3, max_age_seconds: 0 };
    const [early, first, second, third] = (await search({ ...wanted, per_care_unit: 4 })).timeslots as Found[];
    if (!early || !first || !second || !third) throw new Error('There are too few slots');
    const { id } = await bookFound(early);
    const page = await search({ ...wanted, limit: 1, start: first.start });
    expect(page.timeslots.map(keyOf)).toEqual([keyOf(first)]);
    await cancel(early.emr, early.care_unit_id, id);
    const booked = await bookFound(first);
    const rest = await search({ ...wanted, limit: 5, start: first.start, cursor: page.next_cursor });
    await cancel(first.emr, first.care_unit_id, booked.id);
    expect(rest.timeslots).toHaveLength(2);
    expect(rest.timeslots.map(keyOf)).not.toContain(keyOf(first));
    expect(rest.next_cursor).toBeNull();
  });

  test.each([
    ['the first days have enough', 0],
    ['the first day has none, and the next one many', -1],
  ])('is asked for once of each care unit, if %s', async (_, days) => {
    const [from, end] = [days, 90].map((it) => new Date(start.getTime() + it * dayMs).toISOString());
    ehrs.calls = 0;
    await search({ start: from, end, per_care_unit: 1, max_age_seconds: 0 });
    expect(ehrs.calls).toBe(all.length);
  });

  test("is limited to parts of days and weekdays in the care unit's own time", async () => {
    const body = { weekdays: ['tuesday', 'friday'], time_of_day: { start: '09:00', end: '10:00' }, limit: 500 };
    const { timeslots } = await search(body);
    expect(timeslots.length).toBeGreaterThan(8);
    for (const { start: from, end } of timeslots) {
      expect(from.slice(11, 16) >= '09:00' && end.slice(11, 16) <= '10:00').toBe(true);
      expect([2, 5]).toContain(new Date(from.slice(0, 10)).getUTCDay());
    }
    expect(new Set(timeslots.map(({ start: from }) => from.slice(-6))).size).toBeGreaterThan(1);
  });

  test('is limited to resources, of the EHRs that have such identifiers', async () => {
    const { timeslots, unanswered } = await search({ resource_ids: ['hsa_id:SE0000000000-1001'], limit: 500 });
    expect(unanswered).toEqual([]);
    expect(new Set(timeslots.map(({ emr, resource }) => `${emr} ${resource.id}`))).toEqual(
      new Set(['sandbox-se emr_id:r-1']),
    );
  });

  test('is limited to healthcare services of a care unit', async () => {
    const [unit] = all;
    const { timeslots } = await search({ care_units: [{ ...unit, healthcare_service_ids: ['vaccination'] }] });
    expect(new Set(timeslots.map((it) => it.healthcare_service_id))).toEqual(new Set(['vaccination']));
  });

  test('has no services that the care unit does not have, and asks the EHR for none', async () => {
    ehrs.calls = 0;
    const units = all.map((unit) => ({ ...unit, healthcare_service_ids: ['invented'] }));
    const { timeslots, unanswered } = await search({ care_units: units, max_age_seconds: 0 });
    expect([timeslots, unanswered, ehrs.calls]).toEqual([[], [], 0]);
  });

  test('does not repeat or skip slots when others are booked between two pages', async () => {
    const before = await listed();
    const taken: string[] = [];
    const found = await pages({ limit: 60 }, async ({ timeslots, next_cursor }) => {
      const own = timeslots.filter(({ emr }) => emr !== 'sandbox-se');
      if (!next_cursor || taken.length > 3) return;
      // One that was shown, and one that follows.
      const [shown] = own;
      const following = (
        await search({ limit: 1, care_units: [all[1]], cursor: undefined, start: timeslots.at(-1)?.end })
      ).timeslots[0];
      for (const slot of [shown, following]) {
        if (!slot) continue;
        await bookFound(slot);
        taken.push(placeOf(slot));
      }
    });
    const keys = found.map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toEqual([...keys].sort());
    const free = before.filter((key) => !taken.some((place) => key.startsWith(place)));
    expect(free.filter((key) => !keys.includes(key))).toEqual([]);
  });
});

describe('what is kept', () => {
  test('is shown without a call to an EHR, by every gateway, as far as its age is accepted', async () => {
    const first = await search({});
    const before = ehrs.calls;
    await expect
      .poll(async () => {
        ehrs.calls = 0;
        const again = await search({});
        return [ehrs.calls, again.timeslots.length];
      })
      .toEqual([0, first.timeslots.length]);
    expect((await search({ max_age_seconds: 3600 }, {}, other)).timeslots.map(keyOf)).toEqual(
      first.timeslots.map(keyOf),
    );
    expect(before).toBeGreaterThan(0);
    const asked = new Date((await search({ max_age_seconds: 0 })).timeslots[0]?.as_of ?? 0).getTime();
    expect(ehrs.calls).toBeGreaterThan(0);
    expect(asked).toBeGreaterThan(new Date(first.timeslots[0]?.as_of ?? 0).getTime());
  });

  test('never has a time that was booked through any gateway, and has one that was cancelled', async () => {
    const [slot] = (await search({ care_units: [all[1]], limit: 1 })).timeslots as [Found];
    const shown = async () => (await search({ max_age_seconds: 3600 })).timeslots.map(keyOf).includes(keyOf(slot));
    expect(await shown()).toBe(true);
    const { id } = await bookFound(slot);
    expect(await shown()).toBe(false);
    await cancel(slot.emr, slot.care_unit_id, id);
    expect(await shown()).toBe(true);
  });

  test('has no time that was booked while the EHR was asked', async () => {
    const [slot] = (await search({ care_units: [all[1]], limit: 1 })).timeslots as [Found];
    const { promise, resolve } = Promise.withResolvers<void>();
    ehrs.holdUp.set('sandbox-no', promise);
    ehrs.calls = 0;
    const slow = search({ care_units: [all[1]], max_age_seconds: 0 });
    await expect.poll(() => ehrs.calls).toBe(1);
    await bookFound(slot);
    ehrs.holdUp.clear();
    const after = search({ care_units: [all[1]], max_age_seconds: 3600 });
    expect((await after).timeslots.map(keyOf)).not.toContain(keyOf(slot));
    resolve();
    await slow;
    expect((await search({ care_units: [all[1]], max_age_seconds: 3600 })).timeslots.map(keyOf)).not.toContain(
      keyOf(slot),
    );
  });

  test('has no time that was booked while another EHR was asked', async () => {
    const end = new Date(start.getTime() + dayMs).toISOString();
    const lately = { end, max_age_seconds: 3600, wait_ms: 10_000, limit: 500 };
    let slot: Found | undefined;
    const callsForOne = async () => {
      ehrs.calls = 0;
      [slot] = (await search({ ...lately, care_units: [all[1]] })).timeslots;
      return ehrs.calls;
    };
    await expect.poll(callsForOne).toBe(0);
    if (!slot) throw new Error('There is no slot');
    const { promise, resolve } = Promise.withResolvers<void>();
    ehrs.holdUp.set('sandbox-uk', promise);
    const unkept = { emr: 'sandbox-uk', care_unit_id: 'hillview' };
    const slow = search({ ...lately, care_units: [all[1], unkept] });
    await expect.poll(() => ehrs.calls).toBe(1);
    const { id } = await bookFound(slot);
    resolve();
    const { timeslots, unanswered } = await slow;
    await cancel(slot.emr, slot.care_unit_id, id);
    expect(unanswered).toEqual([]);
    expect(timeslots.length).toBeGreaterThan(1);
    expect(timeslots.map(keyOf)).not.toContain(keyOf(slot));
  });

  test('has no time that an EHR may have booked without an answer', async () => {
    const [slot] = (await search({ care_units: [all[1]], limit: 1 })).timeslots as [Found];
    const shown = async () => (await search({ care_units: [all[1]], max_age_seconds: 3600 })).timeslots.map(keyOf);
    expect(await shown()).toContain(keyOf(slot));
    ehrs.lose.add('sandbox-no');
    expect(await tryToBook(slot, gateway)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    expect(await shown()).not.toContain(keyOf(slot));
  });

  test('has no time that an EHR may have taken out of a schedule without an answer', async () => {
    const inOslo = { care_units: [all[1]], limit: 1, start: new Date(start.getTime() + 4 * dayMs).toISOString() };
    const [slot] = (await search(inOslo)).timeslots as [Found];
    const shown = async () => (await search({ ...inOslo, max_age_seconds: 3600 })).timeslots.map(keyOf);
    expect(await shown()).toContain(keyOf(slot));
    const path = `${oslo}/resources/${slot.resource.id}/schedules`;
    const query = new URLSearchParams({ start: slot.start, end: slot.end });
    const { body } = await gateway.request<{ schedules: { id: string }[] }>('GET', `${path}?${query}`);
    ehrs.lose.add('sandbox-no');
    const period = { start_time: local(slot.start), end_time: local(slot.end) };
    const lost = await gateway.request<Problem>('POST', `${path}/${body.schedules[0]?.id}/exceptions`, {
      body: period,
    });
    expect(lost).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    expect(await shown()).not.toContain(keyOf(slot));
  });

  test('is not shown after a change of a schedule', async () => {
    await search({ care_units: [all[1]] });
    const path = `${oslo}/resources/r-1/schedules`;
    const day = new Date(start.getTime() + 2 * dayMs).toISOString().slice(0, 10);
    const body = {
      healthcare_service_ids: ['consultation'],
      start_time: `${day}T19:00:00`,
      end_time: `${day}T20:00:00`,
      slot_minutes: 30,
    };
    const { status, text } = await gateway.request('POST', path, { body });
    expect(status, text).toBe(201);
    const { timeslots } = await search({
      care_units: [all[1]],
      limit: 500,
      max_age_seconds: 3600,
      time_of_day: { start: '19:00' },
    });
    expect(timeslots.map(({ start: from }) => local(from))).toEqual([`${day}T19:00:00`, `${day}T19:30:00`]);
  });
});

describe('an EHR that does not answer', () => {
  test('in time is named, hides no other, and is found by the next search once it has answered', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ehrs.holdUp.set('sandbox-no', promise);
    const keys = await listed(careUnits.filter(([emr]) => emr !== 'sandbox-no'));
    const page = await search({ max_age_seconds: 0, wait_ms: 300, limit: 500 });
    expect(page.timeslots.map(keyOf)).toEqual(keys.slice(0, 500));
    expect(page.unanswered).toEqual(
      [all[0], all[1]].map((unit) => ({
        ...unit,
        reason: 'ehr_timeout',
        detail: 'The EHR has not answered yet.',
        retry_after_seconds: 1,
      })),
    );
    resolve();
    ehrs.holdUp.clear();
    const next = await search({ max_age_seconds: 60, limit: 500 });
    expect(next.unanswered).toEqual([]);
    expect(next.timeslots.map(keyOf)).toEqual((await listed()).slice(0, 500));
  });

  test('is shown from what is kept without any wait', async () => {
    const wanted = { limit: 400, max_age_seconds: 3600 };
    const keys = (await search({ ...wanted, wait_ms: 10_000 })).timeslots.map(keyOf);
    await expect
      .poll(async () => {
        const page = await search({ ...wanted, wait_ms: 0 });
        return [page.unanswered, page.timeslots.map(keyOf)];
      })
      .toEqual([[], keys]);
  });

  test('does not keep the others from being asked for later days', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ehrs.holdUp.set('sandbox-no', promise);
    // Nothing is free on the first days, so that the others are asked several times.
    const later = {
      weekdays: ['friday'],
      time_of_day: { start: '15:00' },
      max_age_seconds: 0,
      wait_ms: 2_000,
      limit: 500,
    };
    const page = await search(later);
    resolve();
    expect(new Set(page.unanswered.map(({ emr }) => emr))).toEqual(new Set(['sandbox-no']));
    ehrs.holdUp.clear();
    const keys = (await search({ ...later, max_age_seconds: 3600 })).timeslots.map(keyOf);
    expect(keys.length).toBeGreaterThan(10);
    expect(page.timeslots.map(keyOf)).toEqual(keys.filter((key) => !key.includes(' sandbox-no ')));
  });

  test('is named with the reason, and is shown from what is kept', async () => {
    await search({});
    ehrs.fail.add('sandbox-uk');
    const asked = await search({ max_age_seconds: 0 });
    expect(asked.unanswered).toMatchObject([{ emr: 'sandbox-uk', reason: 'ehr_unavailable' }]);
    expect(asked.timeslots.some(({ emr }) => emr === 'sandbox-uk')).toBe(false);
  });

  test('because it has slots by patient only is named, and will not answer', async () => {
    const { unanswered } = await search({ care_units: [{ emr: 'by-patient', care_unit_id: 'riverside' }] });
    expect(unanswered).toMatchObject([
      { emr: 'by-patient', reason: 'operation_unsupported', retry_after_seconds: null },
    ]);
  });
});

describe('a service that means the same in all care units', () => {
  const placesOf = ({ timeslots }: Response) =>
    [...new Set(timeslots.map((it) => `${it.care_unit_id} ${it.healthcare_service_id}`))].sort();

  test.each<[string, string[]]>([
    ['talk', ['bergen-nord consultation', 'oslo-sentrum consultation']],
    ['jab', careUnits.map(([, careUnit]) => `${careUnit} vaccination`).sort()],
    [`${serviceTypes}|124`, careUnits.map(([, careUnit]) => `${careUnit} consultation`).sort()],
    [`${serviceTypes}|999`, []],
  ])('%s', async (service, places) => {
    const page = await search({ service, limit: 500 });
    expect([placesOf(page), page.unanswered]).toEqual([places, []]);
  });

  test('that nobody has named is refused', async () => {
    expect(await refused({ service: 'walk' })).toEqual({
      status: 400,
      reason: 'healthcare_service_not_found',
      pointer: '/service',
    });
  });

  test('is listed with the care units of the client that have it', async () => {
    const { status, body } = await gateway.request<{ services: unknown[]; unanswered: unknown[] }>(
      'GET',
      '/api/services',
      { client: 'narrowed' },
    );
    const inOslo = (id: string) => [{ emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', healthcare_service_ids: [id] }];
    expect(status).toBe(200);
    expect(body).toEqual({
      services: [
        { service: `${serviceTypes}|124`, name: 'General Practice', care_units: inOslo('consultation') },
        { service: `${serviceTypes}|57`, name: 'Immunization', care_units: inOslo('vaccination') },
        { service: 'jab', name: 'A jab', care_units: inOslo('vaccination') },
        { service: 'talk', name: 'A talk', care_units: inOslo('consultation') },
      ],
      unanswered: [],
    });
  });
});

describe('a search is refused', () => {
  test.each<[object, object]>([
    [{ end: range.start }, { status: 400, reason: 'time_range_invalid', pointer: '/end' }],
    [
      { end: new Date(start.getTime() + 93 * dayMs).toISOString() },
      { status: 400, reason: 'time_range_invalid', pointer: '/end' },
    ],
    [{ wait_ms: 10_001 }, { status: 400, reason: 'request_invalid', pointer: '/wait_ms' }],
    [{ care_units: Array(201).fill(all[0]) }, { status: 400, reason: 'request_invalid', pointer: '/care_units' }],
    [
      { care_units: [...all, { ...all[0], healthcare_service_ids: ['vaccination'] }] },
      { status: 400, reason: 'request_invalid', pointer: `/care_units/${all.length}` },
    ],
    [{ cursor: 'bm9uZQ' }, { status: 400, reason: 'cursor_invalid', pointer: '/cursor' }],
    [{ resource_ids: ['x:y:z'] }, { status: 400, reason: 'identifier_malformed', pointer: '/resource_ids/0' }],
    [
      { care_units: [all[0], { emr: 'nowhere', care_unit_id: 'x' }] },
      { status: 404, reason: 'emr_not_found', pointer: '/care_units/1/emr' },
    ],
    [
      { care_units: [{ emr: 'sandbox-no', care_unit_id: 'x' }] },
      { status: 404, reason: 'care_unit_not_found', pointer: '/care_units/0/care_unit_id' },
    ],
    [{ time_of_day: { start: '25:00' } }, { status: 400, reason: 'request_invalid', pointer: '/time_of_day/start' }],
  ])('%#', async (body, expected) => {
    expect(await refused(body)).toEqual(expected);
  });

  test('for a care unit that the client is not granted', async () => {
    expect(await refused({}, { client: 'narrowed' })).toMatchObject({ status: 404, reason: 'care_unit_not_found' });
  });

  test('without the scope', async () => {
    expect(await refused({}, { client: 'notes:read' })).toMatchObject({ status: 403 });
  });
});
