import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Ehr } from '../ehrs/ehr.ts';
import type { FaultyEhr } from '../ehrs/faulty-ehr.ts';
import type { Gateway, GatewayResponse } from '../gateway/gateway.ts';
import { backdateCode, codeIn, messages, rowsOf, runBackgroundJobs } from '../requests/codes.ts';
import { type Code, entriesOf, type Model, type Resource, type Time } from './model.ts';

/** The care unit that is compared with the model. */
export interface Place {
  readonly emr: string;
  readonly careUnitId: string;
  readonly resources: Readonly<Record<Resource, string>>;
}

/** The day of all appointments, with its offset from UTC. */
export interface Day {
  readonly date: string;
  readonly offset: string;
}

interface KnownCode {
  current?: string;
  readonly superseded: string[];
}

interface RealOptions {
  readonly gateway: Gateway;
  readonly place: Place;
  readonly day: Day;
  /** The EHR of the care unit. */
  readonly ehr: FaultyEhr;
}

const deliveryTimeout = 20_000;
/** Too short for a code, so it is always incorrect. */
const noCode = '00000';

/** The gateway under test. Maps the names of the model to the gateway's ids. */
export class Real {
  readonly gateway: Gateway;
  readonly place: Place;
  readonly ehr: FaultyEhr;
  /** The steps so far, with the names of the model. */
  readonly history: string[] = [];
  readonly #day: Day;
  readonly #ids = new Map<string, string>([
    ['nobody', randomUUID()],
    ['nobody-either', `cw-${randomUUID()}`],
  ]);
  readonly #codes = new Map<string, KnownCode>();
  readonly #expiries = new Map<string, string>();

  constructor({ gateway, place, day, ehr }: RealOptions) {
    this.gateway = gateway;
    this.place = place;
    this.ehr = ehr;
    this.#day = day;
  }

  /** Direct access to the EHR. */
  get staff(): Ehr {
    return this.gateway.ehr(this.place.emr);
  }

  get path(): string {
    return `/api/emrs/${this.place.emr}/care-units/${this.place.careUnitId}`;
  }

  request<Body>(
    method: string,
    path: string,
    options: Parameters<Gateway['request']>[2] = {},
  ): Promise<GatewayResponse<Body>> {
    return this.gateway.request<Body>(method, this.path + path, options);
  }

  id(name: string): string {
    const id = this.#ids.get(name);
    if (id === undefined) throw new Error(`No response has contained the id of ${name}`);
    return id;
  }

  /** Whether the model has a name for the id. */
  knows(id: string): boolean {
    return [...this.#ids.values()].includes(id);
  }

  /** Stores the gateway's id when it first appears in a response. */
  learn(name: string, id: unknown): void {
    if (this.#ids.has(name) || typeof id !== 'string') return;
    expect([...this.#ids.values()], 'ids that are already in use').not.toContain(id);
    this.#ids.set(name, id);
  }

  /** Stores the expiry time when it first appears after a code is sent. It is about ten minutes ahead. */
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

  /** Local time of the care unit. */
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

  /** A code to enter. `isCorrect` is whether it is the one that was sent last. */
  async code(
    model: Model,
    code: Code | undefined,
    which: 'correct' | 'incorrect' | 'superseded',
  ): Promise<{ text: string; isCorrect: boolean }> {
    const known = code && (this.#codes.get(code.name) ?? { superseded: [] });
    if (!code || !known || which === 'incorrect') return { text: noCode, isCorrect: false };
    const waits = entriesOf(model).find((entry) => entry.code === code && entry.waiting === 'pending');
    if (known.current === undefined && waits) {
      known.current = await this.#sentCode(code, waits.id);
      this.#codes.set(code.name, known);
    }
    const text = (which === 'correct' ? known.current : known.superseded.at(-1)) ?? noCode;
    return { text, isCorrect: text === known.current };
  }

  /** Call after a resend. */
  async codeIsSuperseded(model: Model, code: Code): Promise<void> {
    const { current, superseded } = this.#codes.get(code.name) ?? { superseded: [] };
    this.#codes.set(code.name, { superseded: current === undefined ? superseded : [...superseded, current] });
    await this.code(model, code, 'correct');
  }

  async #sentCode(code: Code, waitingId: string): Promise<string> {
    const deadline = Date.now() + deliveryTimeout;
    for (;;) {
      const { body } = await this.request<{ confirmation: { delivery: string } | null }>(
        'GET',
        `/appointments/${this.id(waitingId)}`,
      );
      if (body.confirmation?.delivery === 'sent') break;
      if (Date.now() > deadline) throw new Error(`${code.name} was not sent: ${JSON.stringify(body)}`);
      await sleep(10);
    }
    const ids = code.ids.map((name) => this.id(name));
    const about = (await messages(this.gateway)).filter((message) => ids.includes(message.appointment_id));
    expect(about.length, 'messages about one code').toBeLessThanOrEqual(code.sent);
    if (code.sent === 1) expect(about[0]?.appointment_id, 'the appointment id of the message').toBe(ids[0]);
    return codeIn(about[0]);
  }

  /** Expires the code and its hold now. */
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

  /** Runs the background jobs once. */
  async runBackgroundJobs(): Promise<void> {
    await runBackgroundJobs(this.gateway);
  }

  /** Backdates the code so that a resend is allowed. */
  async allowResend(code: Code): Promise<void> {
    await backdateCode(this.gateway, this.id(code.name), 30);
  }

  /** Sets the send time to now, so that a resend is not allowed even on a slow machine. */
  async preventResend(code: Code): Promise<void> {
    await rowsOf(this.gateway, 'UPDATE confirmations SET last_code_sent_at = clock_timestamp() WHERE id = $1', [
      this.id(code.name),
    ]);
  }
}

/** Deletes all appointments, operations, codes and messages. */
export async function deleteAll(gateway: Gateway): Promise<void> {
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

/** A Wednesday at least a week ahead, with the offset that the gateway uses. */
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
