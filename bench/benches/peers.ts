import { Pool } from 'undici';
import { loadDataSet } from '../../connectors/fhir-r4/fake/data-set.ts';
import { uploadTo } from '../../connectors/fhir-r4/fake/upload.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import { settingsFor } from '../../connectors/fhir-r4/test/subject.ts';
import type { Bench, Result } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { type EmrInFile, startGateway } from '../measure/gateway.ts';
import { type Load, reads, type Steps, sendOne, writes } from '../measure/load.ts';
import type { Postgres } from '../measure/postgres.ts';
import type { Server } from '../measure/server.ts';
import { bookDirectly, type Places, type Slot } from '../servers/yardstick/fhir-booking.ts';
import { book } from './book.ts';
import { careUnit, everyTime, variants, variantsOf } from './bookings.ts';
import { bookingOf, careUnitInFhir, fhirEmr } from './fhir.ts';

/** A FHIR server of somebody else, which runs already and whose data may be overwritten. */
export interface Peer {
  readonly name: 'Medplum' | 'HAPI';
  /** Base URL. */
  readonly url: string;
  /** Bearer token, if it requires one. */
  readonly token: string | undefined;
}

/** The same work on one of the servers. */
interface Work {
  readonly read: Load;
  readonly slots: Load;
  readonly book: Load;
}

interface FreeSlots extends Places {
  /** Takes a free slot of the peer that nobody has taken. */
  next(): Slot;
}

const lines = [
  { of: 'read', name: 'read an appointment', besideMedplum: 4 },
  { of: 'slots', name: 'two weeks of free time slots', besideMedplum: 12 },
  { of: 'book', name: 'book', besideMedplum: 30 },
] as const;

/** The peer gets slots for about two thousand bookings. */
const dataDays = 130;
/** Days from now between which free time slots are searched. Bookings are later, so that these stay free. */
const searchedDays = [1, 15] as const;
const bookings = { warmUp: { requests: 50 }, round: { requests: 100 } };
const practitioners = ['r-1', 'r-2'];
const dayMilliseconds = 24 * 60 * 60 * 1000;
const fhirJson = { 'content-type': 'application/fhir+json', accept: 'application/fhir+json' };

/** Reads, free time slots and bookings of the gateway, in front of its sandbox and in front of the peer, against the peer. */
export function peers(running: readonly Peer[]): Bench {
  return {
    name: 'peers',
    async run(postgres) {
      const results: Result[] = [];
      for (const peer of running) results.push(...(await beside(peer, postgres)));
      return results;
    },
  };
}

async function beside(peer: Peer, postgres: Postgres): Promise<readonly Result[]> {
  const free = await upload(peer);
  const start = async (emrs: readonly EmrInFile[]) =>
    startGateway({
      folder: postgres.folder,
      databaseUrl: await postgres.createDatabase(),
      emrs,
      variables: peer.token === undefined ? {} : { PEER_TOKEN: peer.token },
    });
  const auth = peer.token === undefined ? {} : { auth: { type: 'bearer', token: { env: 'PEER_TOKEN' } } };
  const settings = { ...settingsFor(peer.url), ...auth };
  const sandbox = await start([]);
  const inFront = await start([fhirEmr(settings, free.referenceOf('Location/north'))]);
  try {
    const directly = await workOf(peer, free);
    const ofSandbox = await workOfSandbox(sandbox);
    const through = await workInFront(inFront, free);
    const results: Result[] = [];
    for (const { of, name, besideMedplum } of lines) {
      const lengths = of === 'book' ? { yardstickLengths: bookings } : {};
      const alone = await compare(postgres, ofSandbox[of], directly[of], lengths);
      const front = await compare(postgres, through[of], directly[of], of === 'book' ? bookings : {});
      const reach = peer.name === 'Medplum' ? { atLeast: besideMedplum } : undefined;
      results.push(
        { name: `${name}: sandbox`, ...ratio(peer, alone), reach },
        { name: `${name}: in front of ${peer.name}`, ...ratio(peer, front) },
      );
    }
    return results;
  } finally {
    await Promise.all([sandbox.stop(), inFront.stop()]);
  }
}

function ratio({ name }: Peer, { throughput, ours, yardstick }: Awaited<ReturnType<typeof compare>>) {
  return {
    measure: `requests/s ÷ ${name}`,
    value: throughput,
    details: {
      'requests/s': ours.perSecond,
      [`${name} requests/s`]: yardstick.perSecond,
      'p50 ms': ours.p50,
      [`${name} p50 ms`]: yardstick.p50,
      refused: ours.refused,
      [`refused by ${name}`]: yardstick.refused,
    },
  };
}

/** Loads the data set of the connector's tests. */
async function upload({ url, token }: Peer): Promise<FreeSlots> {
  const uploader = uploadTo({ baseUrl: url, headers: authorization(token) });
  const slots: Slot[] = [];
  await loadDataSet(
    async (resource) => {
      await uploader.save(resource);
      const practitioner = practitioners.find((id) => resource.id?.startsWith(`slot-${id}-`));
      if (practitioner !== undefined) slots.push(slotOf(resource, practitioner));
    },
    { days: dataDays },
  );
  const begin = Date.now() + (searchedDays[1] + 1) * dayMilliseconds;
  const later = slots.filter(({ start }) => Date.parse(start) > begin);
  return {
    referenceOf: uploader.referenceOf,
    next() {
      const slot = later.shift();
      if (!slot) throw new Error(`No free slot is left. The peer gets those of ${dataDays} days.`);
      return slot;
    },
  };
}

/** What a client of the peer sends without a gateway: a booking is two searches and a transaction. */
async function workOf({ url, token }: Peer, free: FreeSlots): Promise<Work> {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const server: Server = { url: origin, pid: undefined, clients: [authorization(token)], stop: async () => undefined };
  const bookOne =
    (slot: Slot): Steps =>
    (send) =>
      bookDirectly(({ path, ...request }) => send({ ...request, path: prefix + path, headers: fhirJson }), slot, free);
  const ids: string[] = [];
  const pool = new Pool(origin);
  for (let n = 0; n < variants; n++) {
    ids.push(appointmentIn(await bookOne(free.next())((request) => sendOne(pool, server, request))));
  }
  await pool.close();
  const query = new URLSearchParams({
    schedule: free.referenceOf('Schedule/schedule-r-1'),
    status: 'free',
    _count: '500',
  });
  return {
    read: reads(server, ...ids.map((id) => `${prefix}/Appointment/${id}`)),
    slots: reads(server, ...variantsOf((range) => `${prefix}/Slot?${query}&${searched(range)}`, ...searchedDays)),
    book: { server, next: () => bookOne(free.next()) },
  };
}

async function workOfSandbox(server: Server): Promise<Work> {
  const next = everyTime();
  const paths: string[] = [];
  for (let n = 0; n < variants; n++) paths.push(await book(server, next()));
  return {
    read: reads(server, ...paths),
    slots: reads(
      server,
      ...variantsOf((range) => `${careUnit}/timeslots?${range}&resource_id=r-1&limit=500`, ...searchedDays),
    ),
    book: writes(server, next, true),
  };
}

async function workInFront(server: Server, free: FreeSlots): Promise<Work> {
  const idOf = (reference: string) => `emr_id:${free.referenceOf(reference).split('/')[1]}`;
  const nextBooking = () => {
    const slot = free.next();
    const resource = idOf(slot.resource_id.replace('emr_id:', 'Practitioner/'));
    return bookingOf({ ...slot, resource_id: resource }, idOf('Patient/p-1'));
  };
  const paths: string[] = [];
  for (let n = 0; n < variants; n++) paths.push(await book(server, nextBooking()));
  const resource = `resource_id=${idOf('Practitioner/r-1')}`;
  return {
    read: reads(server, ...paths),
    slots: reads(
      server,
      ...variantsOf((range) => `${careUnitInFhir}/timeslots?${range}&${resource}&limit=500`, ...searchedDays),
    ),
    book: { server, next: nextBooking },
  };
}

/** The range of a query of the gateway as parameters of a search for Slots. */
function searched(range: string): string {
  const { start = '', end = '' } = Object.fromEntries(new URLSearchParams(range));
  return new URLSearchParams([
    ['start', `ge${start}`],
    ['start', `lt${end}`],
  ]).toString();
}

/** @returns the id of the Appointment that the transaction has created */
function appointmentIn(response: string): string {
  const { entry } = JSON.parse(response) as {
    readonly entry: readonly { readonly response: { readonly location: string } }[];
  };
  const [, id] = entry.map((it) => /Appointment\/([^/]+)/.exec(it.response.location)).find((match) => match) ?? [];
  if (id === undefined) throw new Error('The transaction created no Appointment');
  return id;
}

/** @param resource a Slot of the data set */
function slotOf(resource: FhirResource, practitioner: string): Slot {
  const { start, end } = resource as FhirResource & Pick<Slot, 'start' | 'end'>;
  return { start, end, resource_id: `emr_id:${practitioner}` };
}

function authorization(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
