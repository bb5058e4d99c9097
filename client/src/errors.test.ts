import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { CrosswardError, isProblem, type Problem, ProblemError, type Reason } from './index.ts';
import { clientWithReplies, json, problem } from './test-gateway.ts';

const wrongCode = {
  reason: 'confirmation_code_incorrect',
  status: 400,
  retryable: false,
  detail: 'Wrong.',
  attempts_remaining: 4,
};

async function thrown(reply: Response): Promise<unknown> {
  const { client } = clientWithReplies([reply], { retry: false });
  return client.emrs.get('sandbox-no').then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a problem', () => {
  test('is thrown, and narrowed by its reason', async () => {
    const error = await thrown(json(wrongCode, 400));
    if (!(error instanceof ProblemError)) throw new Error('Another error', { cause: error });
    switch (error.problem.reason) {
      case 'confirmation_code_incorrect':
        expectTypeOf(error.problem.attempts_remaining).toEqualTypeOf<number>();
        expect(error.problem.attempts_remaining).toBe(4);
        break;
      case 'time_slot_unavailable':
        // @ts-expect-error: only an incorrect code has it.
        expect(error.problem.attempts_remaining).toBeUndefined();
        break;
      // @ts-expect-error: no such reason.
      case 'time_slot_taken':
        break;
      default:
        throw error;
    }
    expect(error).toBeInstanceOf(CrosswardError);
    expect(error.message).toBe('confirmation_code_incorrect: Wrong.');
  });

  test('is recognised by one of several reasons', async () => {
    const error = await thrown(json(wrongCode, 400));
    expect(isProblem(error)).toBe(true);
    expect(isProblem(error, 'time_slot_unavailable', 'confirmation_code_incorrect')).toBe(true);
    expect(isProblem(error, 'time_slot_unavailable')).toBe(false);
    expect(isProblem(new Error('Another'))).toBe(false);
    if (isProblem(error, 'confirmation_code_incorrect')) {
      expectTypeOf(error.problem).toEqualTypeOf<Problem<'confirmation_code_incorrect'>>();
      expect(error.problem.attempts_remaining).toBe(4);
    }
  });

  test('has a reason from the closed list', () => {
    expectTypeOf<Problem['reason']>().toEqualTypeOf<Reason>();
    expectTypeOf<'time_slot_unavailable'>().toExtend<Reason>();
    expectTypeOf<'anything'>().not.toExtend<Reason>();
  });
});

test.each([
  [new Response('<h1>Bad Gateway</h1>', { status: 502 }), 502],
  [json({ message: 'Unauthorized' }, 401), 401],
  [new Response(null, { status: 308, headers: { location: 'http://elsewhere.test/' } }), 308],
])('the response of something else is a connection error %#', async (reply, status) => {
  expect(await thrown(reply)).toMatchObject({ name: 'ConnectionError', kind: 'unexpected_response', status });
});

test('a reason that this version does not know is a problem all the same', async () => {
  expect(await thrown(problem('new_reason', 400, {}, false))).toMatchObject({ problem: { reason: 'new_reason' } });
});

test.each(['top\nsecret', 'top\u0000secret', 'top’secret'])(
  'the credentials %j are rejected without being shown',
  (text) => {
    for (const name of ['clientId', 'clientSecret']) {
      const error = new TypeError(`${name} has characters that a header cannot hold`);
      expect(() => clientWithReplies([], { [name]: text })).toThrow(error);
    }
    expect(() => clientWithReplies([], { clientSecret: 'of a file\r\n' })).not.toThrow();
  },
);

test('the error of an unreadable response does not quote it', async () => {
  const { unit } = clientWithReplies([new Response('{"given_name":Kari}')], { retry: false });
  const error: unknown = await unit.patients.get('p-3').catch((it: unknown) => it);
  expect(error).toMatchObject({ kind: 'unexpected_response', message: 'The response is not JSON' });
  expect(inspect(error)).not.toContain('Kari');
});
