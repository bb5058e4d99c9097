import { Pool } from 'undici';
import { settingsFor } from '../../connectors/fhir-r4/test/subject.ts';
import { addedMilliseconds } from '../measure/added-time.ts';
import { type Bench, detailsOf, type Result } from '../measure/bench.ts';
import { type Comparison, compare } from '../measure/compare.ts';
import { type EmrInFile, startGateway } from '../measure/gateway.ts';
import { type Request, reads, sendOne, writes } from '../measure/load.ts';
import { type Server, startServer } from '../measure/server.ts';
import type { Spread } from '../measure/statistics.ts';
import { bookDirectly, type Slot } from '../servers/yardstick/fhir-booking.ts';
import { type Booking, days, variants } from './bookings.ts';

/** The care unit of a FHIR server that has the data set of the connector's tests. */
export const careUnitInFhir = '/api/emrs/fhir/care-units/north';
/** The FHIR server has slots for so many days. A page has room for those of `pageDays`. */
const [dataDays, pageDays] = [300, 14];
/** The FHIR server has slots for about five thousand bookings. */
const bookings = { warmUp: { requests: 900 }, round: { requests: 220 } };

/** What the gateway adds in front of a FHIR server: to a read, and to a booking. */
export const fhir: Bench = {
  name: 'fhir',
  async run(postgres) {
    const server = await startServer('fhir-server', { days: dataDays });
    const databaseUrl = await postgres.createDatabase();
    const gateway = await startGateway({
      folder: postgres.folder,
      databaseUrl,
      emrs: [fhirEmr(settingsFor(server.url))],
    });
    const forward = await startServer('yardstick/main', { forwardTo: server.url });
    const pools = new Map([gateway, server].map((it) => [it, new Pool(it.url, { connections: 2 })]));
    const send = (to: Server, request: Request) => sendOne(pools.get(to) as Pool, to, request);
    try {
      const slots = await freeSlots((request) => send(gateway, request));
      const next = () => takeFirst(slots);
      const ids: string[] = [];
      for (let n = 0; n < variants; n++) {
        const { id } = JSON.parse(await send(gateway, bookingOf(next()))) as { readonly id: string };
        ids.push(id);
      }
      const directReads = ids.map((id) => `/Appointment?_id=${id}&_include=Appointment%3Aslot&_count=200`);
      const read = reads(gateway, ...ids.map((id) => `${careUnitInFhir}/appointments/${id}`));
      const readDirectly = reads(server, ...directReads);
      const readThroughForward = reads(forward, ...directReads.map((path) => `/forward${path}`));
      const reading = await compare(postgres, read, readThroughForward);
      const booking = await compare(
        postgres,
        { server: gateway, next: () => bookingOf(next()) },
        writes(forward, () => ({ path: '/book', body: next() })),
        bookings,
      );
      // Last, when V8 has optimised what runs often: a lone caller of a gateway that has work, not of one that just started.
      const added = {
        read: await addedMilliseconds(
          () => send(gateway, read.next()),
          () => send(server, readDirectly.next()),
        ),
        book: await addedMilliseconds(
          () => send(gateway, bookingOf(next())),
          () => bookDirectly((request) => send(server, request), next()),
        ),
      };
      const loneCommit = await postgres.loneCommitMilliseconds();
      return [
        addedResult('read through to FHIR', added.read),
        cpuResult('read through to FHIR', reading),
        inCommits('book through to FHIR', added.book, loneCommit),
        cpuResult('book through to FHIR', booking),
      ];
    } finally {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      await Promise.all([gateway.stop(), forward.stop()]);
      await server.stop();
    }
  },
};

/** @param location the reference of the care unit's Location on the server */
export function fhirEmr(settings: object, location = 'Location/north'): EmrInFile {
  return {
    id: 'fhir',
    name: 'FHIR',
    connector: 'fhir-r4',
    settings,
    synthetic_identifiers: true,
    connection: { allow_private_addresses: true },
    care_units: [
      {
        id: 'north',
        name: 'North',
        time_zone: 'Europe/Stockholm',
        language: 'sv',
        settings: { location },
      },
    ],
  };
}

function addedResult(name: string, value: Spread): Result {
  return { name, measure: 'median − sent directly, ms', value, reach: { atMost: 1 }, details: {} };
}

/** A booking is stored before the EHR is called, and ended after it: it cannot take less than two commits. */
function inCommits(name: string, added: Spread, loneCommit: number): Result {
  const value = {
    median: added.median / loneCommit,
    lowest: added.lowest / loneCommit,
    highest: added.highest / loneCommit,
  };
  const details = { 'added ms': added.median, 'lone commit ms': loneCommit };
  return { name, measure: '(median − sent directly) ÷ one lone commit', value, reach: { atMost: 2.4 }, details };
}

function cpuResult(name: string, { cpu, ours, yardstick }: Comparison): Result {
  return {
    name,
    measure: 'processor time ÷ bare forward with undici',
    value: cpu,
    reach: { atMost: 1.3 },
    details: detailsOf(ours, yardstick),
  };
}

async function freeSlots(send: (request: Request) => Promise<string>): Promise<Slot[]> {
  const slots: Slot[] = [];
  for (let from = 1; from + pageDays < dataDays; from += pageDays) {
    const path = `${careUnitInFhir}/timeslots?${days(from, from + pageDays)}&healthcare_service_id=consultation&limit=500`;
    slots.push(...(JSON.parse(await send({ method: 'GET', path })) as { readonly timeslots: Slot[] }).timeslots);
  }
  return slots;
}

function takeFirst(slots: Slot[]): Slot {
  const slot = slots.shift();
  if (!slot) throw new Error('The FHIR server has too few free slots');
  return slot;
}

/** A booking in the gateway, with a key. */
export function bookingOf({ start, end, resource_id }: Slot, patient = 'p-1'): Request & Booking {
  return {
    method: 'POST',
    path: `${careUnitInFhir}/appointments`,
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: {
      patient_id: patient,
      resource_id,
      healthcare_service_id: 'consultation',
      start_time: start.slice(0, 19),
      end_time: end.slice(0, 19),
    },
  };
}
