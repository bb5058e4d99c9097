import { randomUUID } from 'node:crypto';
import type fc from 'fast-check';
import { expect } from 'vitest';
import type { Appointment } from '../bookings.ts';
import type { Answer } from '../gateway.ts';
import { bodyOf, compareWorld, previewOf } from './compare.ts';
import { type EhrFault, sendToFaultyEhr } from './faults.ts';
import { type Entry, entriesOf, type Model, statusOf } from './model.ts';
import type { Outcome, Refusal, Success } from './outcome.ts';
import type { Real } from './real.ts';

/** Checks one request, or whatever else happens, against the model; the model is left as it ought to be then. */
type Play<Input> = (input: Input, model: Model, real: Real) => Promise<string>;

/** A command of fast-check: compares everything afterwards, and a failure tells all that has happened until then. */
export class Step<Input> implements fc.AsyncCommand<Model, Real> {
  readonly #name: string;
  readonly #input: Input;
  readonly #play: Play<Input>;

  constructor(name: string, input: Input, play: Play<Input>) {
    this.#name = name;
    this.#input = input;
    this.#play = play;
  }

  /** Before anything is booked there is little to do but to book. */
  check(model: Readonly<Model>): boolean {
    return model.entries.size > 0 || this.#name === 'create';
  }

  async run(model: Model, real: Real): Promise<void> {
    try {
      real.story.push(`${this}: not as expected`);
      const words = await this.#play(this.#input, model, real);
      real.story.splice(-1, 1, words);
      await compareWorld(model, real);
    } catch (error) {
      if (error instanceof Error) error.message = `${error.message}\n  ${real.story.join('\n  ')}`;
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

/** Which of the ids that exist by then a request is about. */
export interface Pick {
  readonly among: 'booked' | 'awaiting_confirmation' | 'views' | 'all' | 'nothing';
  /** From the newest. */
  readonly index: number;
}

/** Any, where there is none of that kind. */
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
export interface Manner {
  readonly dryRun?: boolean;
  /** Twice, with the same key: it happens once, and is answered alike. */
  readonly twice?: boolean;
  /** With a key, to an EHR that fails: what comes of it is the same. */
  readonly fault?: EhrFault;
}

interface Write {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: object;
  /** The answer is a list. */
  readonly many?: boolean;
  readonly success: 200 | 201 | 202;
  readonly manner?: Manner;
}

/** What is no dry run. */
export function forReal({ twice = false, fault }: Manner): Manner {
  return { twice, ...(fault && { fault }) };
}

/** Sends a write and compares the answer with what the rule says, which changes the model. */
export async function write(
  model: Model,
  real: Real,
  { method, path, body, many = false, success, manner: { dryRun = false, twice = false, fault } = {} }: Write,
  rule: (model: Model) => Outcome,
): Promise<Outcome> {
  const after = dryRun ? structuredClone(model) : model;
  const expected = rule(after);
  const hasKey = twice || fault !== undefined;
  const headers = hasKey ? { 'idempotency-key': randomUUID() } : {};
  const send = () =>
    real.request<{ reason?: string }>(method, `${path}${dryRun ? '?dry_run=true' : ''}`, { body, headers });
  const answer = fault ? await sendToFaultyEhr(real, fault, send) : await send();
  if ('reason' in expected) compareRefusal(real, expected, answer, body);
  else compareSuccess(after, real, expected, answer, { many, dryRun, status: dryRun ? 200 : success });
  if (hasKey && !dryRun && answer.status !== 429) compareReplay(answer, await send());
  return expected;
}

function compareRefusal(real: Real, expected: Refusal, { status, body }: Answer, sent: object | undefined): void {
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
    expect(named.toSorted(), 'the ids at fault').toEqual(expected.faults.map((id) => real.id(id)).toSorted());
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

function compareSuccess(model: Model, real: Real, { shown }: Success, answer: Answer, form: Form): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status: form.status, body: expect.anything() });
  const told = form.many ? (answer.body as { appointments: Appointment[] }).appointments : [answer.body as Appointment];
  const bodies = shown.map(({ id, change, isNew = false }, index) => {
    const entry = model.entries.get(id);
    if (!entry) throw new Error(`The model has no ${id}`);
    return form.dryRun ? previewOf(model, real, entry, change, isNew) : bodyOf(real, entry, told[index]);
  });
  expect(told, 'the answer').toEqual(bodies);
  if (form.status === 201) {
    expect(answer.headers.location).toBe(`${real.path}/appointments/${told[0]?.id}`);
  }
}

function compareReplay(first: Answer, second: Answer): void {
  expect(second.headers['idempotency-replayed'], 'the second answer is a replay').toBe('true');
  expect([second.status, second.body, second.headers.location], 'the same answer again').toEqual([
    first.status,
    first.body,
    first.headers.location,
  ]);
}

/** For the words of a counterexample. */
export function outcomeWords(outcome: Outcome): string {
  if ('reason' in outcome) return `→ ${outcome.reason}${outcome.faults ? ` (${outcome.faults.join(', ')})` : ''}`;
  return `→ ${outcome.shown.map(({ id, change }) => `${id} ${change}`).join(', ')}`;
}
