import { isConnectionFailure } from './errors.ts';
import type { Db } from './kysely.ts';

/** Statements of one group that run at a time. With one alone, a slow statement would hold up all others. */
const concurrency = 2;
const largestGroup = 50;

export interface Grouping<Input, Row> {
  /** Runs one statement for all inputs. Returns the row of each input, in their order. */
  readonly run: (db: Db, inputs: readonly Input[]) => Promise<readonly (Row | undefined)[]>;
  /** Inputs with the same key are never in one statement. Statements lock rows in the order of their keys. */
  readonly keyOf: (input: Input) => string;
}

/**
 * Lets requests that run at the same time share a statement, its round trip and its commit. A statement is sent at once
 * unless two are under way; meanwhile, inputs wait for the next one. A lone request therefore waits for nothing.
 *
 * If the database rejects a statement, each of its inputs is sent alone, so that no request fails because of another. If the
 * connection fails, all of them fail, because it is unknown whether the statement was executed.
 */
export function grouped<Input, Row>(
  grouping: Grouping<Input, Row>,
): (db: Db, input: Input) => Promise<Row | undefined> {
  const groups = new WeakMap<Db, Group<Input, Row>>();
  return (db, input) => {
    const group = groups.get(db) ?? new Group(db, grouping);
    groups.set(db, group);
    return group.add(input);
  };
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
  #running = 0;

  constructor(db: Db, grouping: Grouping<Input, Row>) {
    this.#db = db;
    this.#grouping = grouping;
  }

  add(input: Input): Promise<Row | undefined> {
    const done = Promise.withResolvers<Row | undefined>();
    this.#waiting.push({ input, key: this.#grouping.keyOf(input), done });
    this.#sendNext();
    return done.promise;
  }

  #sendNext(): void {
    if (this.#running === concurrency || this.#waiting.length === 0) return;
    this.#running++;
    void this.#send(this.#takeNext()).finally(() => {
      this.#running--;
      this.#sendNext();
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
      if (members.length === 1 || isConnectionFailure(error)) {
        for (const { done } of members) done.reject(error);
        return;
      }
      for (const member of members) await this.#send([member]);
    }
  }
}
