import { isLockTimeout, isRejectedRow, isSerializationFailure } from './errors.ts';
import type { Db } from './kysely.ts';
import { patienceLeft, spendPatience, withoutPatience } from './patience.ts';
import { withinTime } from './time-limit.ts';

/** Milliseconds after which a statement no longer holds up the next one: it waits for a lock, or its connection is broken. */
const patience = 20;
const largestGroup = 50;

export interface Grouping<Input, Row> {
  /** Runs one statement for all inputs. Returns the row of each input, in their order. */
  readonly run: (db: Db, inputs: readonly Input[]) => Promise<readonly (Row | undefined)[]>;
  /** Inputs with the same key are never in one statement. Statements lock rows in the order of their keys. */
  readonly keyOf: (input: Input) => string;
}

/**
 * Lets requests that run at the same time share a statement, its round trip and its commit. A statement is sent at once
 * unless another one is in progress; meanwhile, inputs wait for the next one. A lone request therefore waits for nothing.
 *
 * If the database rejects a row of a statement, or one has to wait too long for a lock, each of its inputs is sent alone, so that no request fails because of another.
 * Any other failure concerns all of them, or leaves unknown whether the statement was executed, so they fail together.
 *
 * Each request waits for as long as it may wait for the database. The statement itself has the time limit of the connection, and
 * goes on without a request that has given up.
 */
export function grouped<Input, Row>(
  grouping: Grouping<Input, Row>,
): (db: Db, input: Input) => Promise<Row | undefined> {
  const groups = new WeakMap<Db, Group<Input, Row>>();
  return (db, input) => {
    const group = groups.get(db) ?? new Group(db, grouping);
    groups.set(db, group);
    return patiently(group.add(input));
  };
}

async function patiently<Row>(row: Promise<Row>): Promise<Row> {
  const limit = patienceLeft();
  if (limit === undefined) return row;
  const asked = performance.now();
  try {
    return await withinTime(row, limit);
  } finally {
    spendPatience(asked);
  }
}

interface Member<Input, Row> {
  readonly input: Input;
  readonly key: string;
  readonly done: PromiseWithResolvers<Row | undefined>;
}

class Group<Input, Row> {
  readonly #db: Db;
  readonly #grouping: Grouping<Input, Row>;
  #waiting: Member<Input, Row>[] = [];
  #isBusy = false;

  constructor(db: Db, grouping: Grouping<Input, Row>) {
    this.#db = db;
    this.#grouping = grouping;
  }

  add(input: Input): Promise<Row | undefined> {
    const done = Promise.withResolvers<Row | undefined>();
    this.#waiting.push({ input, key: this.#grouping.keyOf(input), done });
    withoutPatience(() => this.#sendNext());
    return done.promise;
  }

  #sendNext(): void {
    if (this.#isBusy || this.#waiting.length === 0) return;
    this.#isBusy = true;
    let isAhead = true;
    const letNextPass = () => {
      if (!isAhead) return;
      isAhead = false;
      this.#isBusy = false;
      this.#sendNext();
    };
    const timer = setTimeout(letNextPass, patience);
    void this.#send(this.#takeNext()).finally(() => {
      clearTimeout(timer);
      letNextPass();
    });
  }

  #takeNext(): Member<Input, Row>[] {
    const next = new Map<string, Member<Input, Row>>();
    const left: Member<Input, Row>[] = [];
    for (const member of this.#waiting) {
      if (next.size === largestGroup || next.has(member.key)) left.push(member);
      else next.set(member.key, member);
    }
    this.#waiting = left;
    return [...next.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #send(members: readonly Member<Input, Row>[]): Promise<void> {
    try {
      const rows = await this.#grouping.run(
        this.#db,
        members.map(({ input }) => input),
      );
      for (const [place, { done }] of members.entries()) done.resolve(rows[place]);
    } catch (error) {
      const isOfOneInput = isRejectedRow(error) || isSerializationFailure(error) || isLockTimeout(error);
      if (members.length === 1 || !isOfOneInput) {
        for (const { done } of members) done.reject(error);
        return;
      }
      // One that waits for a lock holds up none of the others.
      await Promise.all(members.map((member) => this.#send([member])));
    }
  }
}
