import { describe, expect, test } from 'vitest';
import { ConnectorError, type ConnectorErrorKind, connectorErrorKinds } from './errors.ts';
import type { EhrRequest } from './http.ts';
import { createSentWrites, isWrite, type SentWrites } from './sent-writes.ts';

const request = (method: EhrRequest['method'], rest: Partial<EhrRequest> = {}): EhrRequest => ({
  method,
  url: 'https://ehr.example/x',
  repeatable: method === 'GET',
  ...rest,
});
const answer = (status: number, text = '') => ({ status, headers: {}, text });
const book = (writes: SentWrites, status = 201, rest: Partial<EhrRequest> = {}, text = '') =>
  writes.sends(request('POST', rest)).answered(answer(status, text));
const read = (writes: SentWrites, status = 503) => writes.sends(request('GET')).answered(answer(status));
const thrown = (kind: ConnectorErrorKind, options = {}) => new ConnectorError(kind, 'Words', options);
/** The kind that the caller gets. */
const told = (writes: SentWrites, error: unknown) => (writes.errorOf(error) as ConnectorError).kind;

test.each<[EhrRequest, boolean]>([
  [request('GET'), false],
  [request('HEAD'), false],
  [request('GET', { repeatable: false }), false],
  [request('POST'), true],
  [request('POST', { repeatable: true }), false],
  [request('POST', { repeatable: true, writes: true }), true],
  [request('POST', { writes: false }), false],
  [request('PUT', { repeatable: true }), true],
  [request('PATCH', { repeatable: true }), true],
  [request('DELETE', { repeatable: true }), true],
  [request('DELETE', { repeatable: true, writes: false }), false],
])('%j writes: %s', (sent, writes) => {
  expect(isWrite(sent)).toBe(writes);
});

describe('after a write', () => {
  test.each(connectorErrorKinds)('and a read, %s is an unknown outcome', (kind) => {
    const writes = createSentWrites();
    book(writes);
    read(writes);
    const cause = thrown(kind);
    const error = writes.errorOf(cause) as ConnectorError;
    expect(error.kind).toBe('outcome_unknown');
    expect(kind === 'outcome_unknown' ? error : error.cause).toBe(cause);
  });

  test('an error that no connector should throw is an unknown outcome, and its message is left out', () => {
    const writes = createSentWrites();
    book(writes);
    const bug = new TypeError('Cannot read 191212121212');
    const error = writes.errorOf(bug);
    expect(error).toMatchObject({ kind: 'outcome_unknown', cause: bug });
    expect(String(error)).not.toContain('1912');
  });

  test.each([
    ['time_slot_unavailable', 'time_slot_unavailable'],
    ['patient_not_found', 'patient_not_found'],
    ['rejected', 'outcome_unknown'],
    ['unavailable', 'outcome_unknown'],
    ['unsupported', 'outcome_unknown'],
  ] as const)('%s right after its answer is told as %s', (kind, expected) => {
    const writes = createSentWrites();
    book(writes, 200);
    expect(told(writes, thrown(kind))).toBe(expected);
  });

  test('what the answer to the second of two writes means says nothing about the first', () => {
    const writes = createSentWrites();
    book(writes);
    book(writes);
    expect(told(writes, thrown('time_slot_unavailable'))).toBe('outcome_unknown');
  });

  test('an error that says that nothing was changed stays as it is', () => {
    const writes = createSentWrites();
    book(writes);
    read(writes);
    const error = thrown('rejected', { nothingChanged: true });
    expect(writes.errorOf(error)).toBe(error);
  });

  test('a write that is still on its way counts', () => {
    const writes = createSentWrites();
    writes.sends(request('POST'));
    expect(told(writes, thrown('unavailable'))).toBe('outcome_unknown');
  });

  test.each([
    [true, 'outcome_unknown'],
    [false, 'unavailable'],
  ] as const)('without an answer, which may be done: %s, unavailable is told as %s', (mayBeDone, expected) => {
    const writes = createSentWrites();
    writes.sends(request('POST')).failed(mayBeDone);
    expect(told(writes, thrown('unavailable'))).toBe(expected);
  });
});

describe('a refusal of a write leaves the errors that follow as they are', () => {
  test.each([400, 401, 403, 404, 409, 410, 412, 422, 423, 425, 428, 501])('%i', (status) => {
    const writes = createSentWrites();
    book(writes, status);
    read(writes);
    for (const kind of connectorErrorKinds) expect(told(writes, thrown(kind))).toBe(kind);
  });

  test.each([200, 201, 204, 302, 303, 304, 408, 500, 505])('%i is none', (status) => {
    const writes = createSentWrites();
    book(writes, status);
    read(writes);
    expect(told(writes, thrown('rejected'))).toBe('outcome_unknown');
  });

  test.each([
    [200, '{"error":"taken"}', 'unavailable'],
    [500, '{"error":"taken"}', 'unavailable'],
    [200, '{"id":17}', 'outcome_unknown'],
  ] as const)('%i with the body %s, by what the request says', (status, text, expected) => {
    const writes = createSentWrites();
    book(writes, status, { refused: (response) => response.text.includes('error') }, text);
    read(writes);
    expect(told(writes, thrown('unavailable'))).toBe(expected);
  });

  test('but not if an earlier attempt may be done', () => {
    const writes = createSentWrites();
    writes.sends(request('PUT', { repeatable: true })).answered(answer(412), true);
    expect(told(writes, thrown('unavailable'))).toBe('outcome_unknown');
  });

  test('but not if another write of the call stands', () => {
    const writes = createSentWrites();
    book(writes);
    book(writes, 409);
    expect(told(writes, thrown('rejected'))).toBe('outcome_unknown');
  });
});

test('without a write, every error stays as it is', () => {
  const writes = createSentWrites();
  read(writes);
  const bug = new TypeError('a slip');
  expect(writes.errorOf(bug)).toBe(bug);
  for (const kind of connectorErrorKinds) expect(told(writes, thrown(kind))).toBe(kind);
});
