import { type Connector, ConnectorError } from '@crossward/connector-kit';
import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { withTolerantBreakers, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { startProxiedGateway } from '../../../test/postgres-proxy/proxied-gateway.ts';
import { type Appointment, local } from '../../../test/requests/bookings.ts';

/** An EHR that fails, or answers when the round ends. */
interface Away {
  readonly emr: string;
  readonly how: 'fails' | 'is slow';
  readonly ended: Promise<void>;
}
let away: Away | undefined;

/** What EHRs have shown to searches. */
const shown: { readonly place: string; readonly begun: number; readonly slots: ReadonlySet<string> }[] = [];

function watched(connector: Connector, emr: string): Connector {
  return {
    ...connector,
    async listTimeSlots(query) {
      const begun = Date.now();
      if (away?.emr === emr && away.how === 'fails') throw new ConnectorError('unavailable', 'The test lets it fail');
      if (away?.emr === emr) await away.ended;
      const slots = (await connector.listTimeSlots?.(query)) ?? [];
      const { id } = query.careUnit;
      const keys = slots.map((it) =>
        keyOf(emr, id, it.start.toISOString(), `emr_id:${it.resourceId}`, it.healthcareServiceId),
      );
      shown.push({ place: `${emr} ${id}`, begun, slots: new Set(keys) });
      return slots;
    },
  };
}

const options: GatewayOptions = {
  connectors: [wrapConnector(watched)],
  configure: (configuration) => ({
    ...withTolerantBreakers(configuration),
    limits: { ...configuration.limits, requests_per_minute: 100_000, held_times: 100_000, sms_per_day: 100_000 },
  }),
};
const one = await startGateway(options);
/** Its connections to the database are cut in some rounds. */
const two = await startProxiedGateway({ ...options, beside: one });
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
  readonly as_of: string;
}

const keyOf = (emr: string, careUnit: string, at: string, resource: string, service: string) =>
  [new Date(at).toISOString(), emr, careUnit, resource, service].join(' ');

/** What may go wrong while a search runs. */
interface Trouble {
  /** Reasons of care units that do not answer. */
  readonly reasons: readonly string[];
  readonly isCut: boolean;
  readonly waitMs: number;
}
const quiet: Trouble = { reasons: [], isCut: false, waitMs: 10_000 };

async function search(gateway: Gateway, max_age_seconds: number, trouble = quiet): Promise<readonly Found[]> {
  const care_units = careUnits.map(([emr, care_unit_id]) => ({ emr, care_unit_id }));
  const found: Found[] = [];
  const before = new Set(taken);
  const started = Date.now();
  for (let cursor: string | undefined; ; ) {
    const { status, body, text } = await gateway.request<{
      timeslots: Found[];
      unanswered: { reason: string }[];
      next_cursor: string | null;
    }>('POST', '/api/timeslots/search', {
      body: {
        care_units,
        ...range,
        max_age_seconds,
        limit: 500,
        wait_ms: trouble.waitMs,
        ...(cursor ? { cursor } : {}),
      },
    });
    if (trouble.isCut && status === 503) return [];
    const unexpected = body.unanswered?.filter(({ reason }) => !trouble.reasons.includes(reason));
    expect([status, unexpected], text).toEqual([200, []]);
    found.push(...body.timeslots);
    if (!body.next_cursor) break;
    cursor = body.next_cursor;
  }
  assertTrue(found, { started, max_age_seconds, before });
  return found;
}

interface Searched {
  readonly started: number;
  readonly max_age_seconds: number;
  /** Places that were taken before. */
  readonly before: ReadonlySet<string>;
}

/** Nothing is shown twice, out of order, older than asked, otherwise than by its EHR, or although it was booked before. */
function assertTrue(found: readonly Found[], { started, max_age_seconds, before }: Searched): void {
  const keys = keysOf(found);
  expect(keys).toEqual([...new Set(keys)].sort());
  expect(found.filter(({ as_of }) => Date.parse(as_of) < started - max_age_seconds * 1000 - 1)).toEqual([]);
  const isShown = (it: Found, index: number) =>
    shown.some(
      ({ place, begun, slots }) =>
        place === `${it.emr} ${it.care_unit_id}` &&
        begun >= Date.parse(it.as_of) - 1 &&
        slots.has(keys[index] as string),
    );
  expect(found.filter((it, index) => !isShown(it, index))).toEqual([]);
  expect(found.map(placeOf).filter((place) => before.has(place) && taken.has(place))).toEqual([]);
}

const placeOf = (it: Found) => keyOf(it.emr, it.care_unit_id, it.start, it.resource.id, '');

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

/** With the place of each. */
const booked: { readonly appointment: Appointment; readonly place: string }[] = [];
/** Places that certainly are taken. */
const taken = new Set<string>();

async function book(gateway: Gateway, slot: Found, { isCut }: Trouble): Promise<void> {
  const response = await gateway.request<Appointment>('POST', `${pathOf(slot.emr, slot.care_unit_id)}/appointments`, {
    body: {
      patient_id: `p-${slot.emr === 'sandbox-no' ? 3 : 1}`,
      resource_id: slot.resource.id,
      healthcare_service_id: slot.healthcare_service_id,
      start_time: local(slot.start),
      end_time: local(slot.end),
    },
  });
  // Another caller may have been faster. Without an answer, nobody knows.
  expect([201, 202, 400, ...(isCut || away ? [503, 504] : [])], response.text).toContain(response.status);
  if (response.status > 202) return;
  const place = placeOf(slot);
  taken.add(place);
  booked.push({ appointment: response.body, place });
}

async function cancelOne(gateway: Gateway, pick: number, { isCut }: Trouble): Promise<void> {
  const [it] = booked.splice(pick % Math.max(1, booked.length), 1);
  if (!it) return;
  taken.delete(it.place);
  const { emr, care_unit_id, id } = it.appointment;
  const { status, text } = await gateway.request('PATCH', `${pathOf(emr, care_unit_id)}/appointments/${id}`, {
    body: { status: 'cancelled' },
  });
  expect([200, ...(isCut || away ? [503, 504] : [])], text).toContain(status);
}

const work = fc.record({
  kind: fc.constantFrom('book', 'cancel', 'search now', 'search'),
  at: fc.nat({ max: 1 }),
  pick: fc.nat({ max: 59 }),
});
const round = fc.record({
  works: fc.array(work, { minLength: 8, maxLength: 14 }),
  away: fc.option(
    fc.record({
      emr: fc.constantFrom('sandbox-no', 'sandbox-se'),
      how: fc.constantFrom('fails' as const, 'is slow' as const),
    }),
  ),
  cuts: fc.array(fc.nat({ max: 99 }), { maxLength: 20 }),
});
type Round = typeof round extends fc.Arbitrary<infer Its> ? Its : never;

async function perform({ works, away: its, cuts }: Round): Promise<void> {
  const free = await search(one, 60);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  away = its ? { ...its, ended } : undefined;
  const trouble: Trouble = {
    reasons: ['time_slots_changing', ...(away ? ['ehr_unavailable', 'ehr_timeout'] : [])],
    isCut: cuts.length > 0,
    waitMs: away ? 300 : 10_000,
  };
  const random = () => (cuts.pop() ?? 99) / 100;
  const heal = two.proxy.cutAtRandom({ random, share: 0.2, ways: [{ kind: 'before' }, { kind: 'after' }] });
  const done = works.map(({ kind, at, pick }) => {
    const gateway = at === 0 ? one : two;
    const ofGateway = { ...trouble, isCut: trouble.isCut && at === 1 };
    if (kind === 'book') return book(gateway, free[pick % Math.min(free.length, 60)] as Found, ofGateway);
    if (kind === 'cancel') return cancelOne(gateway, pick, ofGateway);
    return search(gateway, kind === 'search' ? 60 : 0, ofGateway);
  });
  const searches = done.filter((_, index) => works[index]?.kind.startsWith('search'));
  // A slow EHR answers when no search waits for it any more.
  await Promise.allSettled(searches);
  end();
  await Promise.allSettled(done);
  heal();
  away = undefined;
  await Promise.all(done);
  for (const gateway of [one, two]) {
    const agree = async () => {
      const before = await shownByEhrs();
      expect(keysOf(await search(gateway, 3600))).toEqual(before);
    };
    // What was cut off is completed or undone meanwhile.
    if (trouble.isCut) await vi.waitFor(agree, { timeout: 60_000 });
    else await agree();
  }
}

/** `SEARCH_ROUNDS=500` for a long run. */
const rounds = Number(process.env.SEARCH_ROUNDS ?? 5);

test(
  'after writes and searches at once at two gateways, what is kept is what the EHRs show',
  async () => {
    // Each round goes on where the one before has ended.
    await fc.assert(fc.asyncProperty(round, perform), { numRuns: rounds, endOnFailure: true });
    expect(taken.size).toBeGreaterThan(0);
  },
  60_000 + rounds * 5_000,
);
