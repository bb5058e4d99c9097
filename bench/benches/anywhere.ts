import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Bench, Result } from '../measure/bench.ts';
import { type EmrInFile, startGateway } from '../measure/gateway.ts';
import { type Request, sendOne } from '../measure/load.ts';
import type { Postgres } from '../measure/postgres.ts';
import { usageOf } from '../measure/processes.ts';
import type { Server } from '../measure/server.ts';
import { median, spread } from '../measure/statistics.ts';
import { memoryGateway } from './book.ts';
import { days } from './bookings.ts';
import { calls } from './idle.ts';

/*
 * Searches over many care units, beside a caller that lists each of them, all at once. The EHRs are in memory and take their time.
 */

const searchMilliseconds = 50;
const searches = 15;
/** Odd, because the median counts. */
const rounds = 5;
/** Longer than any search waits. */
const hanging = 120_000;
/** One search names at most so many care units. */
const mostAtOnce = 200;
const mebibyte = 1024 * 1024;

interface Place {
  readonly emr: string;
  readonly care_unit_id: string;
}

interface Found {
  readonly timeslots: readonly unknown[];
  readonly unanswered: readonly Place[];
}

/** A gateway in front of many EHRs. */
interface Many {
  readonly gateway: Server;
  readonly databaseUrl: string;
  /** For a hundred requests at a time. */
  readonly pool: Pool;
  readonly places: readonly Place[];
}

export const anywhere: Bench = {
  name: 'anywhere',
  run: async (postgres) => [
    ...(await withMany(postgres, { ehrs: 20, careUnits: 5, milliseconds: () => searchMilliseconds }, hundred)),
    ...(await withMany(
      postgres,
      { ehrs: 20, careUnits: 5, milliseconds: (n) => (n === 0 ? hanging : searchMilliseconds) },
      oneHangs,
    )),
    ...(await withMany(postgres, { ehrs: 20, careUnits: 50, milliseconds: () => 0 }, nobodyAsks)),
    ...(await withMany(postgres, { ehrs: 400, careUnits: 1, milliseconds: () => 0 }, memoryOfMany)),
  ],
};

/** The first 50 times of a hundred care units: kept, and asked for now. */
async function hundred(many: Many): Promise<Result[]> {
  const [first] = many.places;
  if (!first) throw new Error('There is no care unit');
  // The first ones compile what the others use.
  await roundOf(many, first);
  // Answers are kept, and names are asked for, after the response.
  await sleep(1000);
  await search(many, many.places, { max_age_seconds: 3600 });
  const before = await callsToEhrs(many.gateway);
  const kept = await medianDuration(30, () => search(many, many.places, { max_age_seconds: 3600 }));
  const asked = (await callsToEhrs(many.gateway)) - before;
  const turns: Awaited<ReturnType<typeof roundOf>>[] = [];
  for (let turn = 0; turn < rounds; turn++) turns.push(await roundOf(many, first));
  const figure = (key: keyof (typeof turns)[number]) => median(turns.map((it) => it[key]));
  const name = 'first 50 times of 100 care units, kept';
  return [
    { name, measure: 'median duration, ms', value: kept, reach: { atMost: 25 }, details: {} },
    { name, measure: 'calls to EHRs', value: asked, reach: { atMost: 0 }, details: {} },
    {
      name,
      measure: 'duration ÷ 100 lists at once by the caller',
      value: kept / figure('alone'),
      details: { 'lists ms': figure('alone') },
    },
    {
      name: 'first 50 times of 100 care units, asked now',
      measure: 'median duration ÷ that of one EHR',
      value: spread(turns.map(({ now, one }) => now / one)),
      reach: { atMost: 1.3 },
      details: { ms: figure('now'), 'gateway CPU ms': figure('cpu'), 'one list ms': figure('one') },
    },
  ];
}

/** Median durations of a search that asks now, of a list of one care unit, and of lists of all, in milliseconds. */
async function roundOf(many: Many, first: Place) {
  const { pid } = many.gateway;
  const before = await usageOf(pid);
  const now = await medianDuration(searches, () => search(many, many.places, { max_age_seconds: 0 }));
  const cpu = ((await usageOf(pid)).cpuMilliseconds - before.cpuMilliseconds) / searches;
  // Its answers are kept afterwards.
  await sleep(200);
  const one = await medianDuration(searches, () => list(many, first));
  const alone = await medianDuration(searches, () => listAll(many));
  return { now, cpu, one, alone };
}

/** One of 20 EHRs never answers. */
async function oneHangs(many: Many): Promise<Result[]> {
  const found: Found[] = [];
  // The first one compiles what the others use.
  await search(many, many.places, { max_age_seconds: 0, wait_ms: 2_000 });
  // Few: after more, its circuit breaker opens, and nobody waits for it.
  const duration = await medianDuration(3, async () => {
    found.push(await search(many, many.places, { max_age_seconds: 0, wait_ms: 500 }));
  });
  const isRight = ({ timeslots, unanswered }: Found) =>
    timeslots.length === 50 && unanswered.length === 5 && unanswered.every(({ emr }) => emr === 'emr-0');
  if (!found.every(isRight)) throw new Error('A search shows less than the 19 EHRs that answer');
  return [
    {
      name: 'one of 20 EHRs hangs, wait_ms 500',
      measure: 'median duration, ms',
      value: duration,
      reach: { atMost: 520 },
      details: {},
    },
  ];
}

const settlingSeconds = 20;
const idleSeconds = 30;

/** What keeping the times of 1,000 care units costs while nobody searches. */
async function nobodyAsks(many: Many): Promise<Result[]> {
  await sleep(settlingSeconds * 1000);
  const before = await idleCost(many);
  await searchAll(many);
  await sleep(settlingSeconds * 1000);
  const after = await idleCost(many);
  const name = 'times of 1,000 care units kept, nobody asks';
  return [
    {
      name,
      measure: 'statements a second − before',
      value: after.statements - before.statements,
      reach: { atMost: 0.5 },
      details: { before: before.statements },
    },
    {
      name,
      measure: '% of one processor − before',
      value: after.processor - before.processor,
      reach: { atMost: 0.5 },
      details: { before: before.processor },
    },
  ];
}

async function idleCost({ gateway: { pid }, databaseUrl }: Many) {
  const [before, usageBefore] = [await statements(databaseUrl), await usageOf(pid)];
  await sleep(idleSeconds * 1000);
  const [after, usage] = [await statements(databaseUrl), await usageOf(pid)];
  return {
    statements: (after - before) / idleSeconds,
    processor: (usage.cpuMilliseconds - usageBefore.cpuMilliseconds) / (idleSeconds * 10),
  };
}

async function statements(databaseUrl: string): Promise<number> {
  return [...(await calls(databaseUrl)).values()].reduce((total, each) => total + each, 0);
}

/** Resident memory with searches over 400 EHRs, against that after a list of each. */
async function memoryOfMany(many: Many): Promise<Result[]> {
  for (let round = 0; round < 5; round++) await listAll(many);
  const without = await residentMebibytes(many.gateway);
  for (let round = 0; round < 5; round++) await searchAll(many);
  const value = (await residentMebibytes(many.gateway)) / without;
  const measure = 'resident memory ÷ after lists of each';
  return [
    { name: 'searches over 400 EHRs', measure, value, reach: { atMost: 1.1 }, details: { 'after lists': without } },
  ];
}

async function residentMebibytes({ pid }: Server): Promise<number> {
  await sleep(2000);
  return (await usageOf(pid)).residentBytes / mebibyte;
}

interface Size {
  readonly ehrs: number;
  /** Of each. */
  readonly careUnits: number;
  /** How long a search takes in the nth EHR. */
  milliseconds(n: number): number;
}

async function withMany(postgres: Postgres, size: Size, work: (many: Many) => Promise<Result[]>): Promise<Result[]> {
  const emrs = Array.from({ length: size.ehrs }, (_, n) => emr(n, size));
  const databaseUrl = await postgres.createDatabase();
  const gateway = await startGateway({ folder: postgres.folder, databaseUrl, emrs, command: memoryGateway });
  const pool = new Pool(gateway.url, { connections: 100 });
  const places = emrs.flatMap(({ id, care_units }) => care_units.map((unit) => ({ emr: id, care_unit_id: unit.id })));
  try {
    return await work({ gateway, databaseUrl, pool, places });
  } finally {
    await pool.destroy();
    await gateway.stop();
  }
}

function emr(
  n: number,
  { careUnits, milliseconds }: Size,
): EmrInFile & { readonly care_units: readonly { id: string }[] } {
  return {
    id: `emr-${n}`,
    name: `EHR ${n}`,
    connector: 'sandbox',
    settings: { country: 'NO', search_ms: milliseconds(n) },
    connection: { concurrency: 10 },
    care_units: Array.from({ length: careUnits }, (_, unit) => ({
      id: `unit-${unit}`,
      name: `Unit ${unit}`,
      time_zone: 'Europe/Oslo',
      language: 'nb',
    })),
  };
}

async function search(many: Many, care_units: readonly Place[], options: object): Promise<Found> {
  const body = { care_units, ...range(), limit: 50, ...options };
  return JSON.parse(await send(many, { method: 'POST', path: '/api/timeslots/search', body })) as Found;
}

/** Searches in all care units, as many at once as can be named. */
async function searchAll(many: Many): Promise<void> {
  for (let from = 0; from < many.places.length; from += mostAtOnce) {
    await search(many, many.places.slice(from, from + mostAtOnce), { max_age_seconds: 0 });
  }
}

function list(many: Many, { emr, care_unit_id }: Place): Promise<string> {
  const path = `/api/emrs/${emr}/care-units/${care_unit_id}/timeslots?${new URLSearchParams(range())}&limit=50`;
  return send(many, { method: 'GET', path });
}

/** What a caller does without the search. */
function listAll(many: Many): Promise<readonly string[]> {
  return Promise.all(many.places.map((place) => list(many, place)));
}

function range() {
  return Object.fromEntries(new URLSearchParams(days(1, 29)));
}

function send({ pool, gateway }: Many, request: Request) {
  return sendOne(pool, gateway, request);
}

async function medianDuration(count: number, work: () => Promise<unknown>): Promise<number> {
  const durations: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const begun = performance.now();
    await work();
    durations.push(performance.now() - begun);
  }
  return median(durations);
}

async function callsToEhrs({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('crossward_ehr_calls_total{emr="emr-'));
  return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
}
