import { randomUUID } from 'node:crypto';
import type fc from 'fast-check';
import { expect } from 'vitest';
import type { GatewayResponse } from '../gateway/gateway.ts';
import type { Appointment } from '../requests/bookings.ts';
import { bodyOf, compareWorld, previewOf } from './compare.ts';
import { type EhrFault, sendToFaultyEhr } from './faults.ts';
import { type Entry, entriesOf, type Model, statusOf } from './model.ts';
import type { Outcome, Rejection, Success } from './outcome.ts';
import type { Real } from './real.ts';

/** Performs one step on the gateway and the model, and compares the responses. Returns a description of the step. */
type Play<Input> = (input: Input, model: Model, real: Real) => Promise<string>;

/** A fast-check command that compares all readable data after its step. The error of a failure lists all steps so far. */
export class Step<Input> implements fc.AsyncCommand<Model, Real> {
  readonly #name: string;
  readonly #input: Input;
  readonly #play: Play<Input>;

  constructor(name: string, input: Input, play: Play<Input>) {
    this.#name = name;
    this.#input = input;
    this.#play = play;
  }

  /** The first step is always a booking. */
  check(model: Readonly<Model>): boolean {
    return model.entries.size > 0 || this.#name === 'create';
  }

  async run(model: Model, real: Real): Promise<void> {
    try {
      real.history.push(`${this}: failed`);
      const words = await this.#play(this.#input, model, real);
      real.history.splice(-1, 1, words);
      await compareWorld(model, real);
    } catch (error) {
      if (error instanceof Error) error.message = `${error.message}\n  ${real.history.join('\n  ')}`;
      throw error;
    }
  }

  toString(): string {
    return `${this.#name} ${JSON.stringify(this.#input)}`;
  }
}

export function steps<Input>(name: string, inputs: fc.Arbitrary<Input>, play: Play<Input>): fc.Arbitrary<Step<Input>> {
  return inputs.map((input) => new Step(name, input, play));
}

/** Selects an id among those that exist when the step runs. */
export interface Pick {
  readonly among: 'booked' | 'awaiting_confirmation' | 'views' | 'all' | 'nothing';
  /** Position, counted from the newest. */
  readonly index: number;
}

/** The selected id. If there is none of that kind, any id. */
export function picked(model: Model, { among, index }: Pick): string {
  const all = entriesOf(model).toReversed();
  const some = all.filter((entry) => fits(entry, among));
  const from = some.length > 0 ? some : all;
  const nobody = index % 2 ? 'nobody' : 'nobody-either';
  return among === 'nothing' ? nobody : (from[index % from.length]?.id ?? nobody);
}

function fits(entry: Entry, among: Pick['among']): boolean {
  if (among === 'all') return true;
  return among === 'views' ? entry.kind === 'view' : statusOf(entry) === among;
}

export function pickedMany(model: Model, picks: readonly Pick[]): string[] {
  return [...new Set(picks.map((pick) => picked(model, pick)))];
}

/** How a write is sent. */
export interface SendOptions {
  readonly dryRun?: boolean;
  /** Sends it twice with the same idempotency key. The second response must be a replay. */
  readonly twice?: boolean;
  /** Sends it with an idempotency key to a failing EHR. The outcome must be the same as without the fault. */
  readonly fault?: EhrFault;
}

interface Write {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: object;
  /** Whether the response is a list. */
  readonly many?: boolean;
  readonly success: 200 | 201 | 202;
  readonly options?: SendOptions;
}

/** Removes `dryRun`. */
export function withoutDryRun({ twice = false, fault }: SendOptions): SendOptions {
  return { twice, ...(fault && { fault }) };
}

/** Sends a write and compares the response with the outcome of `rule`, which changes the model. */
export async function write(
  model: Model,
  real: Real,
  { method, path, body, many = false, success, options: { dryRun = false, twice = false, fault } = {} }: Write,
  rule: (model: Model) => Outcome,
): Promise<Outcome> {
  const after = dryRun ? structuredClone(model) : model;
  const expected = rule(after);
  const hasKey = twice || fault !== undefined;
  const headers = hasKey ? { 'idempotency-key': randomUUID() } : {};
  const send = () =>
    real.request<{ reason?: string }>(method, `${path}${dryRun ? '?dry_run=true' : ''}`, { body, headers });
  const response = fault ? await sendToFaultyEhr(real, fault, send) : await send();
  if ('reason' in expected) compareRejection(real, expected, response, body);
  else compareSuccess(after, real, expected, response, { many, dryRun, status: dryRun ? 200 : success });
  if (hasKey && !dryRun && response.status !== 429) compareReplay(response, await send());
  return expected;
}

function compareRejection(
  real: Real,
  expected: Rejection,
  { status, body }: GatewayResponse,
  sent: object | undefined,
): void {
  const { reason, errors, attempts_remaining } = body as {
    reason?: string;
    errors?: { id?: string; pointer?: string }[];
    attempts_remaining?: number;
  };
  expect({ status, reason, attempts_remaining }).toEqual({
    status: expected.status,
    reason: expected.reason,
    attempts_remaining: expected.attemptsRemaining,
  });
  if (expected.faults) {
    const named = (errors ?? []).flatMap(({ id }) => id ?? []);
    expect(named.toSorted(), 'the ids in errors').toEqual(expected.faults.map((id) => real.id(id)).toSorted());
    const { ids = [] } = (sent ?? {}) as { ids?: readonly string[] };
    for (const { id, pointer } of errors ?? []) {
      const position = /^\/ids\/(\d+)$/.exec(pointer ?? '')?.[1];
      if (position !== undefined && id !== undefined) expect(ids[Number(position)], `the id at ${pointer}`).toBe(id);
    }
  }
}

interface Form {
  readonly many: boolean;
  readonly dryRun: boolean;
  readonly status: number;
}

function compareSuccess(model: Model, real: Real, { shown }: Success, response: GatewayResponse, form: Form): void {
  expect({ status: response.status, body: response.body }).toEqual({ status: form.status, body: expect.anything() });
  const actual = form.many
    ? (response.body as { appointments: Appointment[] }).appointments
    : [response.body as Appointment];
  const bodies = shown.map(({ id, change, isNew = false }, index) => {
    const entry = model.entries.get(id);
    if (!entry) throw new Error(`The model has no ${id}`);
    return form.dryRun ? previewOf(model, real, entry, change, isNew) : bodyOf(real, entry, actual[index]);
  });
  expect(actual, 'the response').toEqual(bodies);
  if (form.status === 201) {
    expect(response.headers.location).toBe(`${real.path}/appointments/${actual[0]?.id}`);
  }
}

function compareReplay(first: GatewayResponse, second: GatewayResponse): void {
  expect(second.headers['idempotency-replayed'], 'the header of the second response').toBe('true');
  expect([second.status, second.body, second.headers.location], 'the second response').toEqual([
    first.status,
    first.body,
    first.headers.location,
  ]);
}

/** Describes the outcome in a counterexample. */
export function outcomeWords(outcome: Outcome): string {
  if ('reason' in outcome) return `→ ${outcome.reason}${outcome.faults ? ` (${outcome.faults.join(', ')})` : ''}`;
  return `→ ${outcome.shown.map(({ id, change }) => `${id} ${change}`).join(', ')}`;
}
