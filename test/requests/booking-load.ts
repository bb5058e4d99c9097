import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { findViolations } from '../database/invariants.ts';
import { type Appointment, creationBody, oslo, riverside, type Slot, sodermalm } from './bookings.ts';
import { codeIn, eventually, type Message } from './codes.ts';

/** Where requests go. The processes behind it may be killed. */
interface Target {
  readonly address: string;
  readonly credentials: Readonly<Record<string, string>>;
}

interface Response<Body> {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
}

interface Booking {
  readonly careUnit: string;
  readonly body: { readonly comment: string };
  readonly key: string | undefined;
}

type AppointmentOrProblem = Appointment & { readonly reason?: string };

/** How fast it books. */
interface Pace {
  readonly clients: number;
  /** Of each client between two bookings, so that the slots last longer. */
  readonly pauseMilliseconds: number;
  /** Slots of each care unit that it may use. Default: 600. */
  readonly slots?: number;
}

const fastest: Pace = { clients: 10, pauseMilliseconds: 0 };
const dayMilliseconds = 24 * 60 * 60 * 1000;
const patience = 120_000;
/** Limited, because a patient can get ten codes in an hour. */
const mostCodes = 100;

/**
 * Clients that book until they are stopped. They repeat each request with an idempotency key until it has a final
 * response:
 *
 * - two bookings of one slot, of which one may succeed
 * - a booking by code, which they confirm
 * - a booking without a key, which they do not repeat
 */
export class BookingLoad {
  readonly #target: Target;
  readonly #pauseMilliseconds: number;
  readonly #slots = new Map<string, Slot[]>();
  readonly #acknowledged: (Booking & { readonly id: string })[] = [];
  readonly #contested: { readonly slot: Slot; readonly winners: number }[] = [];
  readonly #clients: Promise<void>[] = [];
  readonly counts = { acknowledged: 0, codes: 0, repeats: 0, unanswered: 0, without_key: 0 };
  /** Why requests were not answered. */
  readonly faults = new Set<string>();
  /** Reasons of responses that were not final. */
  readonly reasons = new Set<string>();
  #isOver = false;
  #mailbox: Promise<readonly Message[]> | undefined;

  private constructor(target: Target, { pauseMilliseconds }: Pace) {
    this.#target = target;
    this.#pauseMilliseconds = pauseMilliseconds;
  }

  static async start(target: Target, pace = fastest): Promise<BookingLoad> {
    const load = new BookingLoad(target, pace);
    for (const careUnit of [oslo, sodermalm, riverside]) {
      load.#slots.set(careUnit, await load.#freeSlots(careUnit, pace.slots ?? 600));
    }
    for (let index = 0; index < pace.clients; index++) load.#clients.push(load.#run(index));
    // A failure is reported by `stop`.
    for (const client of load.#clients) client.catch(() => undefined);
    return load;
  }

  /** Waits until this many more bookings are acknowledged. */
  async progress(count: number): Promise<void> {
    const goal = this.counts.acknowledged + count;
    const all = Promise.all(this.#clients);
    while (this.counts.acknowledged < goal) {
      // Rejects when a client fails.
      if ((await Promise.race([all, sleep(20, 'later')])) !== 'later') throw new Error('No slots are left');
    }
  }

  /** Waits until every request has its final response. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  /** Compares the responses with the database, and repeats every request with its key. */
  async verify(database: Database): Promise<void> {
    await eventually(async () => expect(await findViolations(database)).toEqual({}));
    const client = await database.pool.connect();
    const { rows } = await client
      .query<{ id: string; comment: string; start: Date; resource: string }>(
        `SELECT id, comment, starts_at AS start, resource_id AS resource FROM sandbox.appointments WHERE state <> 'cancelled'`,
      )
      .finally(() => client.release());
    const byComment = Map.groupBy(rows, ({ comment }) => comment);
    for (const [comment, made] of byComment) expect(made.length, `bookings for one request: ${comment}`).toBe(1);
    for (const { id, body } of this.#acknowledged) {
      expect(byComment.get(body.comment)?.[0]?.id, `acknowledged booking: ${body.comment}`).toBe(id);
    }
    const taken = new Set(rows.map(({ start, resource }) => `${start.toISOString()} ${resource}`));
    for (const { slot, winners } of this.#contested) {
      const isTaken = taken.has(`${new Date(slot.start).toISOString()} ${slot.resource_id.replace('emr_id:', '')}`);
      expect([winners, isTaken]).toEqual(winners === 0 ? [0, false] : [1, true]);
    }
    for (const { id, key, ...booking } of this.#acknowledged) {
      if (key === undefined) continue;
      const repeated = await this.#untilFinal(() => this.#book({ ...booking, key }));
      expect([repeated.status, repeated.body.id], 'the response to a repeated request').toEqual([201, id]);
    }
  }

  async #run(first: number): Promise<void> {
    for (let round = first; !this.#isOver; round++) {
      const isDone = await [this.#contest, this.#bookByCode, this.#contest, this.#bookOnce][round % 4]?.call(this);
      if (!isDone) return;
      if (this.#pauseMilliseconds > 0) await sleep(this.#pauseMilliseconds);
    }
  }

  async #contest(): Promise<boolean> {
    const slot = this.#slots.get(oslo)?.pop();
    if (!slot) return false;
    const responses = await Promise.all([this.#bookForSure(oslo, slot), this.#bookForSure(oslo, slot)]);
    const lost = responses.filter(({ status }) => status !== 201);
    for (const { body, text } of lost) expect(body.reason, text).toBe('time_slot_unavailable');
    this.#contested.push({ slot, winners: 2 - lost.length });
    return true;
  }

  async #bookByCode(): Promise<boolean> {
    const slot = this.#slots.get(sodermalm)?.pop();
    if (!slot || this.counts.codes >= mostCodes) return !!slot;
    this.counts.codes++;
    const held = await this.#bookForSure(sodermalm, slot, `p-${1 + (this.counts.codes % 18)}`);
    expect(held.status, held.text).toBe(201);
    const code = await this.#codeFor(held.body.id);
    const key = randomUUID();
    const confirmed = await this.#untilFinal(() =>
      this.#send<AppointmentOrProblem>('PATCH', `${sodermalm}/appointments/${held.body.id}`, {
        body: { confirmation: { code } },
        key,
      }),
    );
    expect([confirmed.status, confirmed.body.status], confirmed.text).toEqual([200, 'booked']);
    return true;
  }

  async #bookOnce(): Promise<boolean> {
    const slot = this.#slots.get(riverside)?.pop();
    if (!slot) return false;
    const booking = { careUnit: riverside, body: this.#bodyFor(slot), key: undefined };
    const response = await this.#book(booking);
    if (response?.status === 201) this.#acknowledge(booking, response.body.id);
    if (response?.status === 201) this.counts.without_key++;
    else await this.#pauseAfter(response);
    return true;
  }

  async #bookForSure(careUnit: string, slot: Slot, patientId = 'p-3'): Promise<Response<AppointmentOrProblem>> {
    const booking = { careUnit, body: { ...this.#bodyFor(slot), patient_id: patientId }, key: randomUUID() };
    const response = await this.#untilFinal(() => this.#book(booking));
    if (response.status === 201) this.#acknowledge(booking, response.body.id);
    return response;
  }

  #acknowledge(booking: Booking, id: string): void {
    this.counts.acknowledged++;
    this.#acknowledged.push({ ...booking, id });
  }

  #bodyFor(slot: Slot) {
    return { ...creationBody(slot), comment: `load ${randomUUID()}` };
  }

  #book({ careUnit, body, key }: Booking) {
    return this.#send<AppointmentOrProblem>('POST', `${careUnit}/appointments`, { body, key });
  }

  async #codeFor(id: string): Promise<string> {
    const deadline = Date.now() + patience;
    for (;;) {
      const about = (await this.#messages()).filter((it) => it.appointment_id === id);
      expect(about.length, 'messages about one booking').toBeLessThanOrEqual(1);
      if (about.length === 1) return codeIn(about[0]);
      if (Date.now() > deadline) throw new Error('A code was not sent');
    }
  }

  /** One read for all clients that wait. */
  #messages(): Promise<readonly Message[]> {
    const read = async () => {
      await sleep(200);
      const response = await this.#send<{ messages?: Message[] }>('GET', '/demo/messages');
      return response?.body.messages ?? [];
    };
    this.#mailbox ??= read().finally(() => {
      this.#mailbox = undefined;
    });
    return this.#mailbox;
  }

  async #untilFinal<Body extends { readonly reason?: string }>(
    send: () => Promise<Response<Body> | undefined>,
  ): Promise<Response<Body>> {
    const deadline = Date.now() + patience;
    for (;;) {
      const response = await send();
      if (response && response.status < 500 && response.body.reason !== 'idempotency_in_progress') return response;
      if (Date.now() > deadline) throw new Error(`No final response: ${response?.text ?? 'the connection broke'}`);
      this.counts.repeats++;
      await this.#pauseAfter(response);
    }
  }

  async #pauseAfter(response: Response<{ readonly reason?: string }> | undefined): Promise<void> {
    if (response?.body.reason !== undefined) this.reasons.add(response.body.reason);
    await sleep(100);
  }

  async #freeSlots(careUnit: string, count: number): Promise<Slot[]> {
    const found: Slot[] = [];
    for (let days = 7; found.length < count && days < 365; days += 50) {
      found.push(...(await this.#freeSlotsFrom(careUnit, Date.now() + days * dayMilliseconds, count - found.length)));
    }
    return found.toReversed();
  }

  async #freeSlotsFrom(careUnit: string, from: number, count: number): Promise<Slot[]> {
    const found: Slot[] = [];
    for (let cursor: string | null = ''; cursor !== null && found.length < count; ) {
      const query = new URLSearchParams({
        start: new Date(from).toISOString(),
        end: new Date(from + 50 * dayMilliseconds).toISOString(),
        healthcare_service_id: 'consultation',
        limit: '100',
        ...(cursor && { cursor }),
      });
      const path = `${careUnit}/timeslots?${query}`;
      const { body } = await this.#untilFinal(() =>
        this.#send<{ timeslots: Slot[]; next_cursor: string | null; reason?: string }>('GET', path),
      );
      found.push(...body.timeslots);
      cursor = body.next_cursor;
    }
    return found;
  }

  /** `undefined`: the connection broke before the response was complete. */
  async #send<Body>(
    method: string,
    path: string,
    { body, key }: { readonly body?: object; readonly key?: string | undefined } = {},
  ): Promise<Response<Body> | undefined> {
    try {
      const response = await fetch(this.#target.address + path, {
        method,
        headers: {
          ...this.#target.credentials,
          accept: 'application/json',
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return { status: response.status, text, body: JSON.parse(text) as Body };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.counts.unanswered++;
      const { code, message } = Object(error.cause) as { readonly code?: string; readonly message?: string };
      this.faults.add(`${method}: ${code ?? ''} ${message ?? error.message}`);
      return undefined;
    }
  }
}
