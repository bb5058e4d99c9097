import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { age, codeIn, messages, rowsOf, workInBackground } from '../codes.ts';
import type { Ehr } from '../ehrs/ehr.ts';
import type { FaultyEhr } from '../faulty-ehr.ts';
import type { Answer, Gateway } from '../gateway.ts';
import { type Code, entriesOf, type Model, type Resource, type Time } from './model.ts';

/** A care unit of the gateway that the model is compared with. */
export interface Place {
  readonly emr: string;
  readonly careUnitId: string;
  readonly resources: Readonly<Record<Resource, string>>;
}

/** The day on which everything happens, with its offset from UTC. */
export interface Day {
  readonly date: string;
  readonly offset: string;
}

interface KnownCode {
  current?: string;
  readonly dead: string[];
}

interface Means {
  readonly gateway: Gateway;
  readonly place: Place;
  readonly day: Day;
  /** That of the place. */
  readonly ehr: FaultyEhr;
}

const longestWait = 20_000;
/** Shorter than a code, so that it is none. */
const noCode = '00000';

/** The gateway, and what the names of the model are called there. */
export class Real {
  readonly gateway: Gateway;
  readonly place: Place;
  readonly ehr: FaultyEhr;
  /** What has happened so far, in the words of the model. */
  readonly story: string[] = [];
  readonly #day: Day;
  readonly #ids = new Map<string, string>([
    ['nobody', randomUUID()],
    ['nobody-either', `cw-${randomUUID()}`],
  ]);
  readonly #codes = new Map<string, KnownCode>();
  readonly #expiries = new Map<string, string>();

  constructor({ gateway, place, day, ehr }: Means) {
    this.gateway = gateway;
    this.place = place;
    this.ehr = ehr;
    this.#day = day;
  }

  /** The EHR past the gateway. */
  get staff(): Ehr {
    return this.gateway.ehr(this.place.emr);
  }

  get path(): string {
    return `/api/emrs/${this.place.emr}/care-units/${this.place.careUnitId}`;
  }

  request<Body>(method: string, path: string, options: Parameters<Gateway['request']>[2] = {}): Promise<Answer<Body>> {
    return this.gateway.request<Body>(method, this.path + path, options);
  }

  id(name: string): string {
    const id = this.#ids.get(name);
    if (id === undefined) throw new Error(`The gateway has not told the id of ${name}`);
    return id;
  }

  /** Whether the model has a name for it. */
  knows(id: string): boolean {
    return [...this.#ids.values()].includes(id);
  }

  /** Takes down what the gateway calls it, the first time that it says so. */
  learn(name: string, id: unknown): void {
    if (this.#ids.has(name) || typeof id !== 'string') return;
    expect([...this.#ids.values()], 'an id that something else has already').not.toContain(id);
    this.#ids.set(name, id);
  }

  /** The same until a fresh code is sent, and about ten minutes from then. */
  learnExpiry(code: Code, expiresAt: unknown): void {
    const version = `${code.name} ${code.sent}`;
    if (this.#expiries.has(version) || typeof expiresAt !== 'string') return;
    const seconds = (Date.parse(expiresAt) - Date.now()) / 1000;
    expect(Math.abs(seconds - 600), 'the lifetime of a code').toBeLessThan(30);
    this.#expiries.set(version, expiresAt);
  }

  expiry(code: Code): string | undefined {
    return this.#expiries.get(`${code.name} ${code.sent}`);
  }

  /** Local to the care unit. */
  local(halfHours: number): string {
    const minutes = 10.5 * 60 + halfHours * 30;
    const twoDigits = (value: number) => String(value).padStart(2, '0');
    return `${this.#day.date}T${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:00`;
  }

  instant(halfHours: number): string {
    return this.local(halfHours) + this.#day.offset;
  }

  range({ from, to }: Time): { start: string; end: string } {
    return { start: this.instant(from), end: this.instant(to) };
  }

  /** The code that was sent last, or one that was superseded, or none at all. Says whether it is the right one. */
  async code(
    model: Model,
    code: Code | undefined,
    which: 'right' | 'wrong' | 'dead',
  ): Promise<{ text: string; isRight: boolean }> {
    const known = code && (this.#codes.get(code.name) ?? { dead: [] });
    if (!code || !known || which === 'wrong') return { text: noCode, isRight: false };
    const waits = entriesOf(model).find((entry) => entry.code === code && entry.waiting === 'pending');
    if (known.current === undefined && waits) {
      known.current = await this.#sentCode(code, waits.id);
      this.#codes.set(code.name, known);
    }
    const text = (which === 'right' ? known.current : known.dead.at(-1)) ?? noCode;
    return { text, isRight: text === known.current };
  }

  /** After a fresh code has been asked for. */
  async codeIsSuperseded(model: Model, code: Code): Promise<void> {
    const { current, dead } = this.#codes.get(code.name) ?? { dead: [] };
    this.#codes.set(code.name, { dead: current === undefined ? dead : [...dead, current] });
    await this.code(model, code, 'right');
  }

  async #sentCode(code: Code, waitingId: string): Promise<string> {
    const deadline = Date.now() + longestWait;
    for (;;) {
      const { body } = await this.request<{ confirmation: { delivery: string } | null }>(
        'GET',
        `/appointments/${this.id(waitingId)}`,
      );
      if (body.confirmation?.delivery === 'sent') break;
      if (Date.now() > deadline) throw new Error(`${code.name} is not sent: ${JSON.stringify(body)}`);
      await sleep(10);
    }
    const ids = code.ids.map((name) => this.id(name));
    const about = (await messages(this.gateway)).filter((message) => ids.includes(message.appointment_id));
    expect(about.length, 'messages about one code').toBeLessThanOrEqual(code.sent);
    if (code.sent === 1) expect(about[0]?.appointment_id, 'the id that the message is filed under').toBe(ids[0]);
    return codeIn(about[0]);
  }

  /** Lets the code run out, as the clock would. */
  async expire(code: Code): Promise<void> {
    const ids = code.ids.map((name) => this.id(name));
    await rowsOf(this.gateway, 'UPDATE confirmations SET expires_at = clock_timestamp() WHERE id = $1', [
      this.id(code.name),
    ]);
    await rowsOf(
      this.gateway,
      `UPDATE sandbox.appointments SET held_until = clock_timestamp()
        WHERE emr = $1 AND state = 'held' AND id = ANY($2::text[])`,
      [this.place.emr, ids],
    );
  }

  /** What the gateway does in its own time, now. */
  async sweep(): Promise<void> {
    await workInBackground(this.gateway);
  }

  async letHalfAMinutePass(code: Code): Promise<void> {
    await age(this.gateway, this.id(code.name), 30);
  }

  /** However slow the machine is: the code has only just been sent. */
  async letNoTimePass(code: Code): Promise<void> {
    await rowsOf(this.gateway, 'UPDATE confirmations SET last_code_sent_at = clock_timestamp() WHERE id = $1', [
      this.id(code.name),
    ]);
  }
}

/** Forgets everything that has ever been booked. */
export async function empty(gateway: Gateway): Promise<void> {
  for (const table of [
    'messages',
    'demo_mailbox',
    'confirmation_items',
    'confirmations',
    'operations',
    'sandbox.operations',
    'sandbox.appointments',
  ]) {
    await rowsOf(gateway, `DELETE FROM ${table}`);
  }
}

/** A Wednesday, with the offset that the gateway writes. */
export async function findDay(gateway: Gateway, place: Place): Promise<Day> {
  const day = new Date(Date.now() + 7 * 86_400_000);
  while (day.getUTCDay() !== 3) day.setTime(day.getTime() + 86_400_000);
  const date = day.toISOString().slice(0, 10);
  const query = new URLSearchParams({ start: `${date}T10:30:00`, end: `${date}T11:00:00` });
  const path = `/api/emrs/${place.emr}/care-units/${place.careUnitId}/timeslots?${query}`;
  const { body } = await gateway.request<{ timeslots: { start: string }[] }>('GET', path);
  const start = body.timeslots[0]?.start ?? '';
  return { date, offset: start.slice(`${date}T10:30:00`.length) };
}
