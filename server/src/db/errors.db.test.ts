import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import {
  isConnectionFailure,
  isSerializationFailure,
  isStaleStatement,
  isUniqueViolation,
  ofDatabase,
} from './errors.ts';
import { retryTransaction } from './retry.ts';

const coded = (code: string, message = '') => Object.assign(new Error(message), { code });

describe('in a database', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.dispose());

  const failure = async (...statements: string[]): Promise<unknown> => {
    const client = await test.database.pool.connect();
    try {
      for (const statement of statements) await client.query(statement);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      client.release();
    }
  };

  it('distinguishes violations by constraint', async () => {
    const setUp = await failure(
      `CREATE TABLE booking (
         id integer CONSTRAINT booking_key PRIMARY KEY, room integer, during tstzrange,
         CONSTRAINT booking_overlap EXCLUDE USING gist (room WITH =, during WITH &&)
       );
       INSERT INTO booking VALUES (1, 1, '[2026-01-01, 2026-01-02)')`,
    );
    expect(setUp).toBeUndefined();
    const overlap = await failure("INSERT INTO booking VALUES (2, 1, '[2026-01-01, 2026-01-03)')");
    expect(isUniqueViolation(overlap)).toBe(false);
    const double = await failure("INSERT INTO booking VALUES (1, 2, 'empty')");
    expect(isUniqueViolation(double)).toBe(true);
    expect(isUniqueViolation(double, 'booking_key')).toBe(true);
    expect(isUniqueViolation(double, 'other')).toBe(false);
    expect(isConnectionFailure(double)).toBe(false);
  });
});

const downCodes = ['08006', '57P01', '57P03', '53300', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', '28P01'];

it('distinguishes an unreachable database from a bug', () => {
  for (const code of downCodes) expect(isConnectionFailure(ofDatabase(coded(code))), code).toBe(true);
  expect(isConnectionFailure(ofDatabase(new Error('timeout exceeded when trying to connect')))).toBe(true);
  expect(isConnectionFailure(ofDatabase(Object.assign(coded('ENOENT'), { syscall: 'connect' })))).toBe(true);
  for (const error of [coded('42601'), coded('57014'), coded('ENOENT'), new TypeError('no'), undefined, null, 'text']) {
    expect(isConnectionFailure(ofDatabase(error))).toBe(false);
  }
});

it('distinguishes database connections from other broken connections', () => {
  for (const code of downCodes) expect(isConnectionFailure(coded(code)), code).toBe(false);
  expect(isConnectionFailure(new Error('Connection terminated'))).toBe(false);
});

it('recognises errors that a retry can fix', () => {
  expect(isSerializationFailure(coded('40001'))).toBe(true);
  expect(isSerializationFailure(coded('40P01'))).toBe(true);
  expect(isSerializationFailure(coded('23505'))).toBe(false);
  expect(isStaleStatement(coded('0A000', 'cached plan must not change result type'))).toBe(true);
  expect(isStaleStatement(coded('0A000', 'no such feature'))).toBe(false);
});

describe('retryTransaction', () => {
  const failing = (times: number, error: Error) => {
    let calls = 0;
    const fn = () => (++calls <= times ? Promise.reject(error) : Promise.resolve('done'));
    return { fn, calls: () => calls };
  };

  it('retries a transaction after a conflict', async () => {
    const { fn, calls } = failing(3, coded('40P01'));
    expect(await retryTransaction(fn)).toBe('done');
    expect(calls()).toBe(4);
  });

  it('gives up after six attempts', async () => {
    const { fn, calls } = failing(100, coded('40001'));
    await expect(retryTransaction(fn)).rejects.toMatchObject({ code: '40001' });
    expect(calls()).toBe(6);
  });

  it('throws other errors at once', async () => {
    const { fn, calls } = failing(1, coded('23505'));
    await expect(retryTransaction(fn)).rejects.toMatchObject({ code: '23505' });
    expect(calls()).toBe(1);
  });
});
