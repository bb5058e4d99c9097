import { expect, test } from 'vitest';
import { ConnectorError } from '../errors.ts';
import type { EhrRequest, EhrResponse } from '../http.ts';
import { isWrite } from '../sent-writes.ts';
import { createJsonClient } from './json-client.ts';
import { createSessions } from './sessions.ts';

function client(answers: readonly (readonly [status: number, text: string])[], lockedStatus?: number) {
  const sent: EhrRequest[] = [];
  let signIns = 0;
  const json = createJsonClient({
    http: {
      async send(request) {
        const [status, text] = answers[sent.length] ?? [200, '{}'];
        sent.push(request);
        return { status, text, headers: {} };
      },
      stream: () => Promise.reject(new Error('Not here')),
    },
    base: 'https://ehr.example/api/',
    sessions: createSessions<number, EhrResponse>({
      signIn: async () => ++signIns,
      hasEnded: ({ status }) => status === 401,
      pauseMilliseconds: 1,
      now: () => new Date(),
    }),
    headersOf: (session) => ({ authorization: `Session ${session}` }),
    refusalOf: (status) => new ConnectorError('rejected', 'Refused', { refusal: { status } }),
    ...(lockedStatus === undefined ? {} : { lockedStatus }),
  });
  return { json, sent };
}

test('reads are repeatable, a read by POST is no write, and writes are not repeatable', async () => {
  const { json, sent } = client([[200, '{"a":1}']]);
  expect(await json.get('one/')).toEqual({ a: 1 });
  await json.ask('search/', { name: 'x' });
  await json.write('two/', { a: 2 });
  await json.write('two/', { a: 3 }, 'PUT');
  const kinds = sent.map((it) => [it.method, it.url.slice(24), it.repeatable, isWrite(it), it.body]);
  expect(kinds).toEqual([
    ['GET', 'one/', true, false, undefined],
    ['POST', 'search/', true, false, '{"name":"x"}'],
    ['POST', 'two/', false, true, '{"a":2}'],
    ['PUT', 'two/', false, true, '{"a":3}'],
  ]);
});

test('a request whose session had ended is sent again in a new one', async () => {
  const { json, sent } = client([[401, '']]);
  await json.write('two/', {});
  expect(sent.map(({ headers }) => headers?.authorization)).toEqual(['Session 1', 'Session 2']);
});

test('what is no JSON is a fault, and a refusal is told as the connector says', async () => {
  await expect(client([[200, '<html>']]).json.get('one/')).rejects.toMatchObject({ kind: 'rejected', fault: true });
  await expect(client([[422, '{}']]).json.get('one/')).rejects.toMatchObject({ refusal: { status: 422 } });
});

test('a write of a locked record is sent again until it is free, and only if the EHR refuses so', async () => {
  const { json, sent } = client(
    [
      [423, ''],
      [423, ''],
      [200, '{"done":true}'],
    ],
    423,
  );
  expect(await json.write('two/', {})).toEqual({ done: true });
  expect(sent).toHaveLength(3);
  const other = client([[423, '']]);
  await expect(other.json.write('two/', {})).rejects.toMatchObject({ refusal: { status: 423 } });
  const read = client([[423, '']], 423);
  await expect(read.json.get('one/')).rejects.toMatchObject({ refusal: { status: 423 } });
});
