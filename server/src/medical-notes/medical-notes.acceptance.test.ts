/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { bergen, book, oslo, pagesOf } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

interface Note {
  readonly id: string;
  readonly patient_id: string;
  readonly created_at: string;
  readonly author_id: string | null;
  readonly title: string | null;
  readonly text: string;
  readonly appointment_id: string | null;
}

const notesOf = (patientId = 'p-3', careUnit = oslo) =>
  `${careUnit}/patients/${encodeURIComponent(patientId)}/medical-notes`;

function write(body: unknown, options: RequestOptions = {}, path = notesOf()) {
  return gateway.request<Note & Problem>('POST', path, { ...options, body });
}

async function written(body: object, path = notesOf()): Promise<Note> {
  const answer = await write(body, {}, path);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function list(query = '', path = notesOf()): Promise<readonly Note[]> {
  return (await pagesOf<Note>(gateway, `${path}${query}`, 'medical_notes')).flat();
}

describe('create_medical_note', () => {
  test('creates a note that can be read', { tags: 'every-ehr' }, async () => {
    const { id: appointment_id } = await book(gateway);
    const body = {
      text: 'Healed.\n\nNo further visits: æøå 𝄞',
      title: '../../x.pdf',
      author_id: 'r-1',
      appointment_id,
    };
    const { status, headers, body: note } = await write(body);
    expect(status).toBe(201);
    expect(note).toEqual({
      ...body,
      id: expect.any(String),
      patient_id: 'emr_id:p-3',
      author_id: 'emr_id:r-1',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/),
    });
    expect(headers.location).toBe(`${notesOf('emr_id:p-3')}/${encodeURIComponent(note.id)}`);
    expect((await gateway.request('GET', String(headers.location))).body).toEqual(note);
    expect((await list())[0]).toEqual(note);
  });

  test('needs only a text', { tags: 'every-ehr' }, async () => {
    const note = await written({ text: 'x', title: '' });
    expect(note).toMatchObject({ text: 'x', title: null, author_id: null, appointment_id: null });
  });

  test('accepts 100,000 characters, also when each is escaped', { tags: 'every-ehr' }, async () => {
    const text = '𝄞'.repeat(100_000);
    const escaped = `{"text":"${'\\ud834\\udd1e'.repeat(100_000)}"}`;
    const answer = await write(escaped);
    expect(answer.status).toBe(201);
    expect(answer.body.text === text).toBe(true);
  });

  test('rejects a body of more than 2 MiB', async () => {
    const answer = await write(`{"text":"${'x'.repeat(2 * 1024 * 1024)}"}`);
    expect(answer).toMatchObject({
      status: 413,
      body: { reason: 'content_too_large', detail: 'The body is larger than 2 MiB.' },
    });
  });

  test.each([
    ['no text', { title: 'x' }, '/text'],
    ['an empty text', { text: '' }, '/text'],
    ['a blank text', { text: ' \n\t\u00a0' }, '/text'],
    ['a text of 100,001 characters', { text: 'x'.repeat(100_001) }, '/text'],
    ['a text with NUL', { text: 'a\0b' }, '/text'],
    ['half a character', { text: '\ud834' }, '/text'],
    ['a number as text', { text: 5 }, '/text'],
    ['a title of two lines', { text: 'x', title: 'a\nb' }, '/title'],
    ['a title with a control character', { text: 'x', title: 'a\u0007b' }, '/title'],
    ['a title of 201 characters', { text: 'x', title: 'x'.repeat(201) }, '/title'],
    ['an empty appointment id', { text: 'x', appointment_id: '' }, '/appointment_id'],
    ['an unknown field', { text: 'x', status: 'final' }, '/status'],
  ])('rejects %s', async (_, body, pointer) => {
    const before = await list();
    expect(await write(body)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer, reason: 'request_invalid' }] },
    });
    expect(await list()).toEqual(before);
  });

  test('rejects a room as author', { tags: 'every-ehr' }, async () => {
    const { body } = await gateway.request<{ resources: { id: string; kind: string }[] }>('GET', `${oslo}/resources`);
    const room = body.resources.find(({ kind }) => kind === 'room');
    expect(await write({ text: 'x', author_id: room?.id })).toMatchObject({
      status: 400,
      body: { reason: 'author_not_practitioner', errors: [{ pointer: '/author_id' }] },
    });
  });

  test('rejects an author of another care unit', async () => {
    expect(await write({ text: 'x', author_id: 'r-6' })).toMatchObject({
      status: 400,
      body: { reason: 'resource_not_found', errors: [{ pointer: '/author_id' }] },
    });
  });

  test('rejects every other appointment alike', { tags: 'every-ehr' }, async () => {
    const { id: ofAnother } = await book(gateway, { patientId: 'p-4' });
    const { id: elsewhere } = await book(gateway, { careUnit: bergen, resourceId: 'r-6' });
    const problems = await Promise.all(
      [ofAnother, elsewhere, 'no-such-appointment', `cw-${randomUUID()}`].map(async (appointment_id) => {
        const { status, body } = await write({ text: 'x', appointment_id });
        const { reason, detail, errors } = body;
        return { status, reason, detail, errors };
      }),
    );
    expect(problems[0]).toMatchObject({
      status: 400,
      reason: 'appointment_not_found',
      errors: [{ pointer: '/appointment_id', reason: 'appointment_not_found' }],
    });
    for (const problem of problems) expect(problem).toEqual(problems[0]);
  });

  test('stores one note for one idempotency key', { tags: 'every-ehr' }, async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const text = `once ${randomUUID()}`;
    const first = await write({ text }, { headers });
    const again = await write({ text }, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', location: first.headers.location });
    expect((await list()).filter((note) => note.text === text)).toHaveLength(1);
    expect(await write({ text: 'another' }, { headers })).toMatchObject({ status: 422 });
  });

  identifierCases({
    kind: 'patient',
    place: 'path',
    parameter: 'patient_id',
    send: (text, headers = {}) => write({ text: 'x' }, { headers }, notesOf(text)),
    isFound: ({ status }) => status === 201,
  });
  identifierCases({
    kind: 'resource',
    place: 'body',
    parameter: 'author_id',
    send: (author_id, headers = {}) => write({ text: 'x', author_id }, { headers }),
    isFound: ({ status }) => status === 201,
  });
});

describe('list_medical_notes', () => {
  test('lists the newest first, in pages', { tags: 'every-ehr' }, async () => {
    const path = notesOf('p-5');
    for (const text of ['one', 'two', 'three', 'four', 'five']) await written({ text }, path);
    const whole = await list('', path);
    expect(whole.length).toBeGreaterThanOrEqual(5);
    expect(whole.map(({ created_at }) => created_at)).toEqual(
      whole
        .map((it) => it.created_at)
        .sort()
        .reverse(),
    );
    for (const limit of [1, 2, 100]) {
      const pages = await pagesOf<Note>(gateway, `${path}?limit=${limit}`, 'medical_notes');
      expect(pages.flat()).toEqual(whole);
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
    }
    expect((await list('', notesOf('p-6'))).map(({ id }) => id)).not.toContain(whole[0]?.id);
  });

  test('filters by time and author', { tags: 'every-ehr' }, async () => {
    const path = notesOf('p-7');
    const mine = await written({ text: 'by r-1', author_id: 'r-1' }, path);
    const anonymous = await written({ text: 'by nobody' }, path);
    const ids = async (query: string) => (await list(query, path)).map(({ id }) => id);
    expect(await ids('?author_id=r-1')).toEqual([mine.id]);
    expect(await ids('?author_id=r-2')).toEqual([]);
    const at = new Date(mine.created_at).getTime();
    const query = (name: string, time: number) => `${name}=${encodeURIComponent(new Date(time).toISOString())}`;
    expect(await ids(`?${query('start', at)}`)).toEqual([anonymous.id, mine.id]);
    expect(await ids(`?${query('end', at - 1000)}`)).toEqual([]);
    expect(await ids(`?${query('start', at)}&${query('end', at + 60_000)}`)).toHaveLength(2);
    const local = mine.created_at.slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
    expect(await ids(`?start=${local}`)).toHaveLength(2);
  });

  test.each([
    ['start=2027-03-19T09:00:00&end=2027-03-19T09:00:00', 'time_range_invalid', 'end'],
    ['start=2027-03-28T02:30:00', 'local_time_nonexistent', 'start'],
    ['end=2027-03-28T02:30:00', 'local_time_nonexistent', 'end'],
    ['end=soon', 'request_invalid', 'end'],
    ['limit=501', 'request_invalid', 'limit'],
    ['cursor=x', 'cursor_invalid', 'cursor'],
    ['author_id=nobody', 'resource_not_found', 'author_id'],
  ])('rejects %s', async (query, reason, parameter) => {
    expect(await gateway.request('GET', `${notesOf()}?${query}`)).toMatchObject({
      status: 400,
      body: { reason, errors: [{ parameter, reason }] },
    });
  });

  test('a cursor is valid only for the same patient and filters', async () => {
    for (const text of ['one', 'two']) await written({ text }, notesOf('p-8'));
    const { body } = await gateway.request<{ next_cursor: string }>('GET', `${notesOf('p-8')}?limit=1`);
    const cursor = encodeURIComponent(body.next_cursor);
    for (const path of [
      `${notesOf('p-9')}?cursor=${cursor}`,
      `${notesOf('p-8')}?author_id=r-1&cursor=${cursor}`,
      `${notesOf('p-8', bergen)}?cursor=${cursor}`,
    ]) {
      expect(await gateway.request('GET', path)).toMatchObject({ status: 400, body: { reason: 'cursor_invalid' } });
    }
  });
});

describe('get_medical_note', () => {
  test('does not find the note of another patient or care unit', { tags: 'every-ehr' }, async () => {
    const { id } = await written({ text: 'mine' });
    for (const path of [notesOf('p-4'), notesOf('p-3', bergen)]) {
      expect(await gateway.request('GET', `${path}/${encodeURIComponent(id)}`)).toMatchObject({
        status: 404,
        body: { reason: 'medical_note_not_found', errors: [{ parameter: 'medical_note_id' }] },
      });
    }
    expect((await list('', notesOf('p-3', bergen))).map((note) => note.id)).not.toContain(id);
  });
});
