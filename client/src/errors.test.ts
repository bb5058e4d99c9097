import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { freePort } from '../../test/processes/free-port.ts';
import { CrosswardError, createCrosswardClient, isProblem, type Problem, ProblemError, type Reason } from './index.ts';
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
  expect(error).toMatchObject({
    kind: 'unexpected_response',
    message: 'The response of http://gateway.test is not JSON',
  });
  expect(inspect(error)).not.toContain('Kari');
});

test.each([
  ['gateway.example', 'baseUrl must start with https:// or http://'],
  ['localhost:8080', 'baseUrl must start with https:// or http://'],
  ['', 'baseUrl must be the URL of the gateway, such as https://gateway.example'],
  [undefined, 'baseUrl must be the URL of the gateway, such as https://gateway.example'],
  ['https://', 'baseUrl is not a valid URL'],
  ['https://gateway.example/api', 'baseUrl must not end with /api: the client adds it'],
  ['https://gateway.example/base/api/', 'baseUrl must not end with /api: the client adds it'],
  [
    'https://me:secret@gateway.example',
    'baseUrl must not contain a user name or password: use clientId and clientSecret',
  ],
  ['https://gateway.example?token=secret', 'baseUrl must not contain a query or fragment'],
])('the base URL %j is rejected when the client is created', (baseUrl, message) => {
  expect(() => clientWithReplies([], { baseUrl: baseUrl as string })).toThrow(new TypeError(message));
});

test.each(['', ' ', undefined])('empty credentials (%j) are rejected when the client is created', (text) => {
  for (const name of ['clientId', 'clientSecret']) {
    expect(() => clientWithReplies([], { [name]: text })).toThrow(new TypeError(`${name} must not be empty`));
  }
});

test('a failed connection names the origin and the cause, and no path', async () => {
  const port = await freePort();
  const options = { clientId: 'demo', clientSecret: 'secret', retry: false } as const;
  const messageOf = async (baseUrl: string) => {
    const client = createCrosswardClient({ ...options, baseUrl });
    return client
      .careUnit('clinic', 'ward')
      .patients.get('p-3')
      .catch((error: unknown) => error);
  };
  expect(await messageOf(`http://127.0.0.1:${port}/base`)).toMatchObject({
    name: 'ConnectionError',
    kind: 'network',
    message: `The connection to http://127.0.0.1:${port} failed: connection refused (ECONNREFUSED)`,
  });
  expect(await messageOf('http://gateway.invalid')).toMatchObject({
    message: expect.stringMatching(
      /^The connection to http:\/\/gateway\.invalid failed: .* \((ENOTFOUND|EAI_AGAIN)\)$/,
    ),
  });
});

test('the error page of a proxy names the origin', async () => {
  expect(await thrown(new Response('<h1>Bad Gateway</h1>', { status: 502 }))).toMatchObject({
    message: 'http://gateway.test responded with HTTP 502, without a problem document of the gateway',
  });
});
