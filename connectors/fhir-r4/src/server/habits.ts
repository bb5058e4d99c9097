import { isRefusedQuestion } from './outcome.ts';

/** What a server's CapabilityStatement says about types and search parameters. */
export interface Statement {
  knows(type: string): boolean;
  /** `undefined`: the statement lists no search parameters of the type. */
  searchParameters(type: string): ReadonlySet<string> | undefined;
  /** Whether it lists a search for the type, and no read. */
  lacksRead(type: string): boolean;
}

/**
 * What a server accepts, as its CapabilityStatement says it and as its refusals have shown it. Each is learnt once in the
 * life of a connection.
 */
export interface Habits {
  /** `undefined` until the CapabilityStatement was read. */
  readonly statement: Statement | undefined;
  learn(statement: Statement): void;
  /**
   * Asks in the first of these ways that the server does not refuse, and from then on in that way.
   *
   * @param what a habit's name, such as `Appointment by patient`
   * @throws what the server said to the first way, if it refuses all
   */
  firstAccepted<Answer>(what: string, ways: readonly Way<Answer>[]): Promise<Answer>;
  /** Notes something for the operator that `emr check` shows, such as `without _sort`. */
  note(what: string, habit: string): void;
  /** In words for the operator, by what they are about. */
  readonly notes: ReadonlyMap<string, string>;
  /** Base URLs, other than the configured one, by which the server names what it sends. */
  readonly otherBases: Set<string>;
  /** Notes that the server has sent a moment without an offset. */
  sawLocalTime(): void;
  readonly hasLocalTimes: boolean;
  /** Notes that an Appointment names its patient by a number and no reference. */
  sawPatientNumber(): void;
  readonly hasPatientNumbers: boolean;
}

export interface Way<Answer> {
  /** In words for the operator: `by actor`. */
  readonly name: string;
  ask(): Promise<Answer>;
}

export function createHabits(): Habits {
  let statement: Statement | undefined;
  let hasLocalTimes = false;
  let hasPatientNumbers = false;
  const chosen = new Map<string, number>();
  const notes = new Map<string, string>();
  return {
    get statement() {
      return statement;
    },
    learn(read) {
      statement = read;
    },
    async firstAccepted(what, ways) {
      const known = ways[chosen.get(what) ?? -1];
      if (known) return known.ask();
      let refusal: unknown;
      for (const [index, way] of ways.entries()) {
        try {
          const answer = await way.ask();
          chosen.set(what, index);
          if (index > 0) notes.set(what, way.name);
          return answer;
        } catch (error) {
          if (!isRefusedQuestion(error)) throw error;
          refusal ??= error;
        }
      }
      throw refusal;
    },
    note: (what, habit) => {
      notes.set(what, habit);
    },
    notes,
    otherBases: new Set(),
    sawLocalTime() {
      hasLocalTimes = true;
    },
    get hasLocalTimes() {
      return hasLocalTimes;
    },
    sawPatientNumber() {
      hasPatientNumbers = true;
    },
    get hasPatientNumbers() {
      return hasPatientNumbers;
    },
  };
}

/**
 * Whether the server says that it has a search parameter. A statement that lists none says nothing.
 *
 * @param name without modifiers and chains
 */
export function lists(habits: Habits, type: string, name: string): boolean | undefined {
  return habits.statement?.searchParameters(type)?.has(name);
}
