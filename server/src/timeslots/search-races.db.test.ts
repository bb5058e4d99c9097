import { afterAll, expect, test } from 'vitest';
import { type Gateway, type GatewayOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, local } from '../../../test/requests/bookings.ts';

const options: GatewayOptions = {
  configure: (configuration) => ({
    ...configuration,
    limits: { ...configuration.limits, requests_per_minute: 100_000, held_times: 100_000, sms_per_day: 100_000 },
  }),
};
const one = await startGateway(options);
const two = await startGateway({ ...options, beside: one });
afterAll(async () => {
  await two.close();
  await one.close();
});

/** `sandbox-se` holds a time until its code is confirmed. */
const careUnits = [
  ['sandbox-no', 'oslo-sentrum'],
  ['sandbox-no', 'bergen-nord'],
  ['sandbox-se', 'sodermalm'],
] as const;
const dayMs = 24 * 60 * 60 * 1000;
const start = new Date(Date.now() + 3 * dayMs);
const range = { start: start.toISOString(), end: new Date(start.getTime() + 3 * dayMs).toISOString() };
const pathOf = (emr: string, careUnit: string) => `/api/emrs/${emr}/care-units/${careUnit}`;

interface Found {
  readonly emr: string;
  readonly care_unit_id: string;
  readonly start: string;
  readonly end: string;
  readonly resource: { readonly id: string };
  readonly healthcare_service_id: string;
}

const keyOf = (emr: string, careUnit: string, at: string, resource: string, service: string) =>
  [new Date(at).toISOString(), emr, careUnit, resource, service].join(' ');

/** @param changing whether others write meanwhile, so that a care unit may be named for it */
async function search(gateway: Gateway, max_age_seconds: number, changing = false): Promise<readonly Found[]> {
  const care_units = careUnits.map(([emr, care_unit_id]) => ({ emr, care_unit_id }));
  const found: Found[] = [];
  for (let cursor: string | undefined; ; ) {
    const { status, body, text } = await gateway.request<{
      timeslots: Found[];
      unanswered: { reason: string }[];
      next_cursor: string | null;
    }>('POST', '/api/timeslots/search', {
      body: { care_units, ...range, max_age_seconds, limit: 500, wait_ms: 10_000, ...(cursor ? { cursor } : {}) },
    });
    const unanswered = body.unanswered.filter(({ reason }) => !changing || reason !== 'time_slots_changing');
    expect([status, unanswered], text).toEqual([200, []]);
    found.push(...body.timeslots);
    if (!body.next_cursor) return found;
    cursor = body.next_cursor;
  }
}

const keysOf = (found: readonly Found[]) =>
  found.map((it) => keyOf(it.emr, it.care_unit_id, it.start, it.resource.id, it.healthcare_service_id));

/** What the EHRs show now. */
async function shownByEhrs(): Promise<string[]> {
  const lists = await Promise.all(
    careUnits.map(async ([emr, careUnit]) => {
      const query = new URLSearchParams({ ...range, limit: '500' });
      const { body } = await one.request<{
        timeslots: { start: string; resource_id: string; healthcare_service_id: string }[];
        next_cursor: null;
      }>('GET', `${pathOf(emr, careUnit)}/timeslots?${query}`);
      expect(body.next_cursor).toBeNull();
      return body.timeslots.map((it) => keyOf(emr, careUnit, it.start, it.resource_id, it.healthcare_service_id));
    }),
  );
  return lists.flat().sort();
}

/** The same numbers for the same seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const booked: Appointment[] = [];

async function book(gateway: Gateway, slot: Found): Promise<void> {
  const response = await gateway.request<Appointment>('POST', `${pathOf(slot.emr, slot.care_unit_id)}/appointments`, {
    body: {
      patient_id: `p-${slot.emr === 'sandbox-no' ? 3 : 1}`,
      resource_id: slot.resource.id,
      healthcare_service_id: slot.healthcare_service_id,
      start_time: local(slot.start),
      end_time: local(slot.end),
    },
  });
  // Another caller may have been faster.
  expect([201, 202, 400], response.text).toContain(response.status);
  if (response.status !== 400) booked.push(response.body);
}

async function cancelOne(gateway: Gateway, random: (below: number) => number): Promise<void> {
  const [appointment] = booked.splice(random(booked.length), 1);
  if (!appointment) return;
  const { emr, care_unit_id, id } = appointment;
  const { status, text } = await gateway.request('PATCH', `${pathOf(emr, care_unit_id)}/appointments/${id}`, {
    body: { status: 'cancelled' },
  });
  expect(status, text).toBe(200);
}

test('after writes and searches at once at two gateways, what is kept is what the EHRs show', async () => {
  const random = numbersFrom(1);
  for (let round = 0; round < 8; round++) {
    const free = await search(one, 60);
    const works = Array.from({ length: 12 }, async () => {
      const gateway = random(2) ? one : two;
      const kind = random(4);
      if (kind === 0) return cancelOne(gateway, random);
      if (kind === 1) return void (await search(gateway, 0, true));
      if (kind === 2) return void (await search(gateway, 60, true));
      return book(gateway, free[random(Math.min(free.length, 60))] as Found);
    });
    await Promise.all(works);
    const now = await shownByEhrs();
    for (const gateway of [one, two]) expect(keysOf(await search(gateway, 3600)), `round ${round}`).toEqual(now);
  }
  expect(booked.length).toBeGreaterThan(0);
});
