import { AsyncLocalStorage } from 'node:async_hooks';

/** Milliseconds after which a statement no longer holds up the next one: it waits for a lock, or its connection is broken. */
const longestTurnMs = 20;
const usualMost = 50;

export interface Grouping<Db extends object, Input, Row> {
  /** Runs one statement for all inputs. Returns the row of each input, in their order. */
  readonly run: (db: Db, inputs: readonly Input[]) => Promise<readonly Row[]>;
  /** Runs the statement of an input whose group was rejected, also if it was alone in it. Default: `run`, once. */
  readonly runAlone?: (db: Db, input: Input) => Promise<Row>;
  /**
   * Inputs with the same key are never in one statement. Statements lock rows in the order of their keys. Absent: any inputs go
   * together, in the order in which they came.
   */
  readonly keyOf?: (input: Input) => string;
  /** How many inputs share a statement. Fewer where an input is large, because sending it holds up other requests. Default: 50. */
  readonly most?: number;
  /** Whether the database has rolled the statement back because of one of its inputs, or of a wait for a lock. */
  readonly isOfOneInput: (error: unknown) => boolean;
}

/**
 * Lets writes that run at the same time share a statement, its round trip and its commit. A statement is sent at the end
 * of the turn of the event loop unless another one is in progress; meanwhile, inputs wait for the next one. A lone input
 * waits for no other.
 *
 * If the database rejects a statement because of one of its inputs, each is sent alone, so that none fails because of another.
 * Any other failure concerns all of them, or leaves unknown whether the statement was executed, so they fail together.
 *
 * Statements run in the asynchronous context of no input.
 */
export function grouped<Db extends object, Input, Row>(
  grouping: Grouping<Db, Input, Row>,
): (db: Db, input: Input) => Promise<Row> {
  const groups = new WeakMap<Db, Group<Db, Input, Row>>();
  return (db, input) => {
    const group = groups.get(db) ?? new Group(db, grouping);
    groups.set(db, group);
    return group.add(input);
  };
}

interface Member<Input, Row> {
  readonly input: Input;
  readonly done: PromiseWithResolvers<Row>;
}

const inNoContext = AsyncLocalStorage.snapshot();

class Group<Db extends object, Input, Row> {
  readonly #db: Db;
  readonly #grouping: Grouping<Db, Input, Row>;
  #waiting: Member<Input, Row>[] = [];
  #isBusy = false;

  constructor(db: Db, grouping: Grouping<Db, Input, Row>) {
    this.#db = db;
    this.#grouping = grouping;
  }

  add(input: Input): Promise<Row> {
    const done = Promise.withResolvers<Row>();
    this.#waiting.push({ input, done });
    if (!this.#isBusy) inNoContext(() => this.#sendSoon());
    return done.promise;
  }

  /** Together with the inputs of this turn: requests whose rows came from one statement reach the next one together. */
  #sendSoon(): void {
    this.#isBusy = true;
    setImmediate(() => this.#sendNext());
  }

  #sendNext(): void {
    let isAhead = true;
    const letNextPass = () => {
      if (!isAhead) return;
      isAhead = false;
      this.#isBusy = false;
      if (this.#waiting.length > 0) this.#sendSoon();
    };
    const timer = setTimeout(letNextPass, longestTurnMs);
    void this.#send(this.#takeNext()).finally(() => {
      clearTimeout(timer);
      letNextPass();
    });
  }

  #takeNext(): Member<Input, Row>[] {
    const { keyOf, most = usualMost } = this.#grouping;
    if (!keyOf) return this.#waiting.splice(0, most);
    const next = new Map<string, Member<Input, Row>>();
    const left: Member<Input, Row>[] = [];
    for (const member of this.#waiting) {
      const key = keyOf(member.input);
      if (next.size === most || next.has(key)) left.push(member);
      else next.set(key, member);
    }
    this.#waiting = left;
    return [...next].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, member]) => member);
  }

  async #send(members: readonly Member<Input, Row>[]): Promise<void> {
    const { run, runAlone, isOfOneInput } = this.#grouping;
    try {
      const rows = await run(
        this.#db,
        members.map(({ input }) => input),
      );
      for (const [place, { done }] of members.entries()) done.resolve(rows[place] as Row);
    } catch (error) {
      if (!isOfOneInput(error) || (members.length === 1 && !runAlone)) {
        for (const { done } of members) done.reject(error);
        return;
      }
      // One that waits for a lock holds up none of the others.
      await Promise.all(members.map((member) => this.#sendAlone(member)));
    }
  }

  async #sendAlone(member: Member<Input, Row>): Promise<void> {
    const { runAlone } = this.#grouping;
    if (!runAlone) return this.#send([member]);
    await runAlone(this.#db, member.input).then(member.done.resolve, member.done.reject);
  }
}
