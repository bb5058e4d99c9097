import type { FastifyError } from 'fastify';
import { describe, expect, it } from 'vitest';
import { frameworkProblem } from '../http/protocol/error-handler.ts';
import {
  canBeRepeatedAtOnce,
  isConnectionFailure,
  isDatabaseFailure,
  isRolledBack,
  isSerializationFailure,
  isStaleStatement,
  mayHaveBeenSent,
  ofDatabase,
} from './errors.ts';
import { databaseFailures, type Effect } from './failure-table.ts';
import { retryTransaction } from './transactions.ts';

const coded = (code: string, message = '') => Object.assign(new Error(message), { code });

const { byCode, byMessage } = databaseFailures;
/** Each error of the table. */
const failures = [
  ...Object.entries(byCode).map(([code, failure]) => [code, failure, () => coded(code)] as const),
  ...Object.entries(byMessage).map(([message, failure]) => [message, failure, () => new Error(message)] as const),
];

describe.each(failures)('%s', (_name, { effect, isRepeatedAtOnce, isConnectionLost }, create) => {
  it('is a failure of the database, if the pool has thrown it', () => {
    expect(isDatabaseFailure(create())).toBe(false);
    expect(isDatabaseFailure(ofDatabase(create()))).toBe(true);
    expect(isConnectionFailure(ofDatabase(create()))).toBe(isConnectionLost);
  });

  it.each<Effect>(['unknown', 'not sent', 'rolled back'])('says what became of a statement: %s', (placed) => {
    const error = ofDatabase(create(), placed);
    const proved = effect ?? placed;
    expect([mayHaveBeenSent(error), isRolledBack(error)]).toEqual([proved === 'unknown', proved === 'rolled back']);
    expect(canBeRepeatedAtOnce(error)).toBe(proved === 'rolled back' && isRepeatedAtOnce);
  });

  it('is a problem that a retry can solve, with a time to wait', () => {
    for (const placed of ['unknown', 'not sent', 'rolled back'] as const) {
      const problem = frameworkProblem(ofDatabase(create(), placed) as FastifyError);
      expect(problem).toMatchObject({
        reason: 'database_unavailable',
        status: 503,
        origin: 'gateway',
        retryable: true,
      });
      expect(problem.headers['retry-after']).toMatch(/^[1-9][0-9]*$/);
    }
  });
});

it('contains every error that says the database did not respond in time, or gave up waiting', () => {
  const codes = ['57014', '55P03', '40001', '40P01', '25P03', '25P04', '57P01', '57P02', '57P03', '57P04', '57P05'];
  const connections = ['08000', '08001', '08003', '08004', '08006', '08007', '08P01'];
  const resources = ['53000', '53100', '53200', '53300', '53400'];
  const system = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', '28P01'];
  for (const code of [...codes, ...connections, ...resources, ...system]) expect(byCode, code).toHaveProperty([code]);
  for (const message of ['Query read timeout', 'timeout expired', 'timeout exceeded when trying to connect']) {
    expect(byMessage, message).toHaveProperty([message]);
  }
  expect(isDatabaseFailure(ofDatabase(Object.assign(coded('ENOENT'), { syscall: 'connect' })))).toBe(true);
});

it('distinguishes a failure of the database from a bug', () => {
  for (const error of [coded('42601'), coded('23505'), coded('ENOENT'), new TypeError('no'), undefined, null, 'text']) {
    expect(isDatabaseFailure(ofDatabase(error))).toBe(false);
  }
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

  it('does not wait again for a database that gave up', async () => {
    const { fn, calls } = failing(1, ofDatabase(coded('55P03')));
    await expect(retryTransaction(fn)).rejects.toMatchObject({ code: '55P03' });
    expect(calls()).toBe(1);
  });

  it('throws other errors at once', async () => {
    const { fn, calls } = failing(1, coded('23505'));
    await expect(retryTransaction(fn)).rejects.toMatchObject({ code: '23505' });
    expect(calls()).toBe(1);
  });
});
