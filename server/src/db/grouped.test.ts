import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { within } from '../context/work-context.ts';
import { mayHaveBeenSent, ofDatabase } from './errors.ts';
import { grouped } from './grouped.ts';
import type { Db } from './kysely.ts';
import { databaseTimeLeft, newDatabaseTime } from './time-limit.ts';

interface Statement {
  readonly inputs: readonly string[];
  succeed(): void;
  fail(error: Error): void;
}

/** A group whose statements end when the test says so. The row of an input is the input in upper case. */
function observed({ keyOf = (input: string) => input } = {}) {
  const statements: Statement[] = [];
  const run = (_db: Db, inputs: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    statements.push({ inputs, succeed: () => resolve(inputs.map((input) => input.toUpperCase())), fail: reject });
    return promise;
  };
  const add = grouped({ begins: 'UPDATE things', run, keyOf });
  const db = {} as Db;
  return { statements, add: (input: string) => add(db, input) };
}

/** Lets everything run that waits for nothing, and what it sends at the end of its turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Adds the first input in a turn of the event loop of its own, and the others while its statement is under way. */
async function addBehind([first, ...others]: readonly [string, ...string[]], add: (input: string) => Promise<unknown>) {
  const ahead = add(first);
  await settle();
  return [ahead, ...others.map(add)];
}

afterEach(() => {
  vi.useRealTimers();
});

describe('grouped', () => {
  test('sends a lone input at the end of the turn of the event loop', async () => {
    const { statements, add } = observed();
    const row = add('a');
    await new Promise((resolve) => setImmediate(resolve));
    expect(statements.map(({ inputs }) => inputs)).toEqual([['a']]);
    statements[0]?.succeed();
    expect(await row).toBe('A');
  });

  test('sends the inputs of one turn of the event loop together, in the order of keys', async () => {
    const { statements, add } = observed();
    const rows = [add('b'), add('a'), Promise.resolve('c').then(add)];
    await settle();
    expect(statements.map(({ inputs }) => inputs)).toEqual([['a', 'b', 'c']]);
    statements[0]?.succeed();
    expect(await Promise.all(rows)).toEqual(['B', 'A', 'C']);
  });

  test('sends what arrives during a statement together, in the order of keys', async () => {
    const { statements, add } = observed();
    const rows = Promise.all(await addBehind(['b', 'e', 'c', 'd'], add));
    expect(statements.map(({ inputs }) => inputs)).toEqual([['b']]);
    statements[0]?.succeed();
    await settle();
    expect(statements[1]?.inputs).toEqual(['c', 'd', 'e']);
    statements[1]?.succeed();
    expect(await rows).toEqual(['B', 'E', 'C', 'D']);
  });

  test('sends the next statement beside one that takes long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { statements, add } = observed();
    const rows = Promise.all(await addBehind(['a', 'b', 'c'], add));
    vi.advanceTimersByTime(30);
    await settle();
    expect(statements.map(({ inputs }) => inputs)).toEqual([['a'], ['b', 'c']]);
    const later = add('d');
    statements[0]?.succeed();
    await settle();
    // The slow statement has ended, and the second one is still under way.
    expect(statements).toHaveLength(2);
    statements[1]?.succeed();
    expect(await rows).toEqual(['A', 'B', 'C']);
    await settle();
    statements[2]?.succeed();
    expect(await later).toBe('D');
  });

  test('never has two inputs with one key in a statement', async () => {
    const { statements, add } = observed({ keyOf: ([first]) => first ?? '' });
    const rows = Promise.all(await addBehind(['a', 'c1', 'c2', 'd'], add));
    statements[0]?.succeed();
    await settle();
    expect(statements[1]?.inputs).toEqual(['c1', 'd']);
    statements[1]?.succeed();
    await settle();
    expect(statements[2]?.inputs).toEqual(['c2']);
    statements[2]?.succeed();
    expect(await rows).toEqual(['A', 'C1', 'C2', 'D']);
  });

  test('an input that the database rejects does not fail the others', async () => {
    const { statements, add } = observed();
    const rows = Promise.allSettled(await addBehind(['a', 'b', 'c', 'd'], add));
    statements[0]?.succeed();
    await settle();
    statements[1]?.fail(Object.assign(new Error('rejected'), { code: '23514' }));
    await settle();
    expect(statements[2]?.inputs).toEqual(['b']);
    statements[2]?.succeed();
    await settle();
    expect(statements[3]?.inputs).toEqual(['c']);
    statements[3]?.fail(new Error('rejected alone'));
    await settle();
    expect(statements[4]?.inputs).toEqual(['d']);
    statements[4]?.succeed();
    expect((await rows).map((row) => (row.status === 'fulfilled' ? row.value : row.reason.message))).toEqual([
      'A',
      'B',
      'rejected alone',
      'D',
    ]);
  });

  test('a failed connection fails all inputs of its statement and repeats none', async () => {
    const { statements, add } = observed();
    const rows = Promise.allSettled(await addBehind(['a', 'c', 'd'], add));
    statements[0]?.succeed();
    await settle();
    const failure = ofDatabase(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    statements[1]?.fail(failure);
    expect((await rows).slice(1)).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ]);
    expect(statements).toHaveLength(2);
  });

  test('no statement has the time limit of the request that happened to send it', async () => {
    const limits: (number | undefined)[] = [];
    const ends: (() => void)[] = [];
    const run = (_db: Db, inputs: readonly string[]) => {
      limits.push(databaseTimeLeft());
      const { promise, resolve } = Promise.withResolvers<readonly string[]>();
      ends.push(() => resolve(inputs));
      return promise;
    };
    const add = grouped({ begins: 'UPDATE things', run, keyOf: (input: string) => input });
    const db = {} as Db;
    const first = within({ databaseTime: { milliseconds: 100 } }, () => add(db, 'a'));
    await settle();
    const second = within({ databaseTime: newDatabaseTime() }, () => add(db, 'b'));
    ends[0]?.();
    await settle();
    ends[1]?.();
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
    expect(limits).toEqual([undefined, undefined]);
  });

  test('a request waits no longer than it may, and does not know what became of its input', async () => {
    const { statements, add } = observed();
    const patience = { milliseconds: 1_000 };
    const given = within({ databaseTime: patience }, () => add('a')).catch((error) => error);
    const other = within({ databaseTime: newDatabaseTime() }, () => add('a2'));
    expect(mayHaveBeenSent(await given)).toBe(true);
    expect(patience.milliseconds).toBeLessThanOrEqual(0);
    for (const statement of statements) statement.succeed();
    expect(await other).toBe('A2');
  });

  test('every input is sent and gets its own row, whenever it arrives', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z]{1,2}$/), { maxLength: 150 }),
        fc.gen(),
        async (inputs, pick) => {
          const { statements, add } = observed();
          const rows: Promise<string | undefined>[] = [];
          for (let ended = 0; rows.length < inputs.length || ended < statements.length; await settle()) {
            const left = inputs.length - rows.length;
            const isIdle = ended === statements.length;
            const arriving = pick(fc.integer, { min: isIdle ? 1 : 0, max: left });
            rows.push(...inputs.slice(rows.length, rows.length + arriving).map(add));
            await settle();
            expect(statements).toHaveLength(ended + 1);
            const { inputs: sent = [], succeed } = statements[ended++] ?? {};
            expect(new Set(sent).size).toBe(sent.length);
            succeed?.();
          }
          expect(await Promise.all(rows)).toEqual(inputs.map((input) => input.toUpperCase()));
        },
      ),
      { numRuns: 50 },
    );
  });
});
