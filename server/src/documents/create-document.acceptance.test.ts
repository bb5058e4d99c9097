import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { oslo, sodermalm } from '../../../test/requests/bookings.ts';
import {
  createDocument,
  createLargeDocument,
  type DocumentBody,
  documentsOf,
  type FormPart,
  form,
  pdfOf,
} from '../../../test/requests/documents.ts';
import { createDb } from '../db/kysely.ts';

const mebibyte = 1024 * 1024;
const maxBytes = 3 * mebibyte;
const gateway = await startGateway({ configure: (it) => ({ ...it, documents: { max_bytes: maxBytes } }) });
const db = createDb(gateway.database);
const path = documentsOf('p-3');
afterAll(() => gateway.close());

/** Begins to send a document of the maximum size. Returns the connection, which waits for the rest of the body. */
function beginDocument(to: string, { id, secret } = gateway.credentials('everything')): Socket {
  const socket = connect(gateway.port, '127.0.0.1');
  const lines = [
    `POST ${to} HTTP/1.1`,
    'host: x',
    `x-service-client-id: ${id}`,
    `x-service-client-secret: ${secret}`,
    'content-type: multipart/form-data; boundary=x',
    `content-length: ${2 * maxBytes}`,
    '',
    '--x',
    'content-disposition: form-data; name="content"',
    'content-type: text/plain',
    '',
    'Kari Nordmann'.repeat(40_000),
  ];
  socket.write(lines.join('\r\n'));
  return socket;
}

/** Parts of uploads that are stored now. */
async function storedChunks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT count(*) FROM uploads)::int + (SELECT count(*) FROM upload_chunks)::int AS count`.execute(db);
  return rows[0]?.count ?? -1;
}

afterEach(async () => {
  await expect.poll(storedChunks).toBe(0);
});

const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64');
const content = (id: string, from = path) => gateway.request('GET', `${from}/${id}/content`);

describe('storing a document', () => {
  // Medplum's router takes no Binary, so the connector offers no documents there.
  if (inject('ehrKind') !== 'medplum')
    test('by JSON gives it back byte for byte', { tags: 'every-ehr' }, async () => {
      const bytes = pdfOf(700_001);
      const { status, body, headers } = await createDocument(gateway, {
        title: 'Epikrise på «norsk»',
        content_type: 'application/pdf',
        content: base64(bytes),
        author_id: 'r-1',
      });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.any(String),
        patient_id: 'emr_id:p-3',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/),
        author_id: 'emr_id:r-1',
        title: 'Epikrise på «norsk»',
        content_type: 'application/pdf',
        size: 700_001,
      });
      expect(headers.location).toBe(`${documentsOf('emr_id%3Ap-3')}/${body.id}`);
      expect((await gateway.request('GET', headers.location ?? '')).body).toEqual(body);
      const read = await content(body.id);
      expect(read.bytes.equals(bytes)).toBe(true);
      expect(read.headers).toMatchObject({
        'content-type': 'application/pdf',
        'content-length': '700001',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-disposition': expect.stringMatching(/^attachment; .*filename\*=UTF-8''Epikrise%20p%C3%A5/),
      });
    });

  test.each([
    ['before', 0],
    ['after', 2],
  ])('by a form gives it back byte for byte, with the content %s the fields', async (_, at) => {
    const bytes = pdfOf(700_001);
    const fields: FormPart[] = [
      { name: 'title', value: 'Røntgen' },
      { name: 'author_id', value: 'emr_id:r-1' },
    ];
    const part = { name: 'content', value: bytes, fileName: '../../etc/passwd', type: 'application/pdf' };
    const answer = await gateway.request<DocumentBody>('POST', path, form(fields.toSpliced(at, 0, part)));
    expect(answer).toMatchObject({
      status: 201,
      body: { title: 'Røntgen', author_id: 'emr_id:r-1', content_type: 'application/pdf', size: bytes.length },
    });
    expect((await content(answer.body.id)).bytes.equals(bytes)).toBe(true);
  });

  test.each([
    ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ['text/plain', Buffer.from('\ufeffPå «sykehuset»\r\n\tBM II* PK')],
    ['text/plain', Buffer.from('x')],
  ])('of the type %s', async (content_type, bytes) => {
    const { status, body } = await createDocument(gateway, { content_type, content: base64(bytes) });
    expect([status, body.content_type, body.size]).toEqual([201, content_type, bytes.length]);
    expect((await content(body.id)).bytes.equals(bytes)).toBe(true);
  });

  test('takes base64 with JSON escapes, and a name with escapes', async () => {
    const bytes = Buffer.from([0xff, 0xd8, 0xff, 0xfb, 0xff, 0xff]);
    const escaped = base64(bytes).replaceAll('/', '\\/').replace('+', '\\u002b');
    const body = `{"content_type": "image/jpeg", "c\\u006fntent": "${escaped}"}`;
    const created = await gateway.request<DocumentBody>('POST', path, { body });
    expect(created.status).toBe(201);
    expect((await content(created.body.id)).bytes.equals(bytes)).toBe(true);
  });

  test('takes content of exactly the maximum size and rejects one byte more', async () => {
    for (const [size, status] of [
      [maxBytes, 201],
      [maxBytes + 1, 413],
    ] as const) {
      const answer = await createLargeDocument(gateway, pdfOf(size));
      expect(answer.status).toBe(status);
      if (status === 413) expect(answer.body).toMatchObject({ reason: 'content_too_large' });
    }
  });

  test('takes JSON of exactly 1 MiB, and names the form for one byte more', async () => {
    const fields = { content_type: 'text/plain', content: base64('x'.repeat(700_000)) };
    const text = JSON.stringify(fields);
    const bodyOf = (size: number) => text + ' '.repeat(size - text.length);
    expect((await gateway.request('POST', path, { body: bodyOf(mebibyte) })).status).toBe(201);
    expect(await gateway.request('POST', path, { body: bodyOf(mebibyte + 1) })).toMatchObject({
      status: 413,
      body: {
        reason: 'content_too_large',
        detail: 'The body is larger than 1 MiB. Send larger content as multipart/form-data.',
      },
    });
  });
});

describe('a retry', () => {
  test('with the same key and content gets the stored response, in either media type', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const bytes = pdfOf(300_000);
    const fields = { content_type: 'application/pdf', content: base64(bytes), title: 'Once' };
    const first = await createDocument(gateway, fields, { headers });
    const again = await createDocument(gateway, fields, { headers });
    const { body, headers: formHeaders } = form([
      { name: 'title', value: 'Once' },
      { name: 'content', value: bytes, type: 'application/pdf' },
    ]);
    const byForm = await gateway.request('POST', path, { body, headers: { ...formHeaders, ...headers } });
    for (const answer of [again, byForm]) {
      expect(answer).toMatchObject({ status: 201, body: first.body, headers: { 'idempotency-replayed': 'true' } });
    }
    const { body: listed } = await gateway.request<{ documents: DocumentBody[] }>('GET', path);
    expect(listed.documents.filter(({ title }) => title === 'Once')).toHaveLength(1);
  });

  test('with the same key and other content is rejected', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    await createDocument(gateway, { content: base64('one') }, { headers });
    const other = await createDocument(gateway, { content: base64('two') }, { headers });
    expect(other).toMatchObject({ status: 422, body: { reason: 'idempotency_key_reused' } });
  });
});

/** The last part of a form. */
function contentPart(headers = 'content-type: text/plain\r\n'): string {
  const boundary = '--crossward-test-boundary';
  return `${boundary}\r\ncontent-disposition: form-data; name="content"\r\n${headers}\r\neA==\r\n${boundary}--\r\n`;
}

describe('a wrong request says what is wrong, and where', () => {
  const png = base64(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  test.each([
    [
      'the label of another type',
      { content_type: 'application/pdf', content: png },
      'content_type_mismatch',
      '/content',
    ],
    ['binary content as text', { content: base64(Buffer.from([1, 2, 3])) }, 'content_type_mismatch', '/content'],
    ['text that is not UTF-8', { content: base64(Buffer.from('på', 'latin1')) }, 'content_type_mismatch', '/content'],
    [
      'text cut in a character',
      { content: base64(Buffer.from('på').subarray(0, 2)) },
      'content_type_mismatch',
      '/content',
    ],
    ['a PDF as text', { content: base64('%PDF-1.4') }, 'content_type_mismatch', '/content'],
    [
      'text before a PDF',
      { content_type: 'application/pdf', content: base64(' %PDF-1.4') },
      'content_type_mismatch',
      '/content',
    ],
    ['an unsupported type', { content_type: 'text/html' }, 'request_invalid', '/content_type'],
    ['no type', { content_type: undefined }, 'request_invalid', '/content_type'],
    ['no content', { content: undefined }, 'request_invalid', '/content'],
    ['empty content', { content: '' }, 'request_invalid', '/content'],
    ['content that is not text', { content: 5, title: 'x' }, 'request_invalid', '/content'],
    ['content in a list', { content: ['eA=='] }, 'request_invalid', '/content'],
    ['base64 without padding', { content: 'eA' }, 'request_invalid', '/content'],
    ['base64 with text after it', { content: 'eA==eA==' }, 'request_invalid', '/content'],
    ['base64 with a line break', { content: 'eHh4\neHh4' }, 'request_invalid', '/content'],
    ['base64url', { content: '_-8=' }, 'request_invalid', '/content'],
    ['a path as title', { title: '../../x.pdf' }, 'request_invalid', '/title'],
    ['an absolute path as title', { title: '/etc/passwd' }, 'request_invalid', '/title'],
    ['a Windows path as title', { title: 'C:\\x.pdf' }, 'request_invalid', '/title'],
    ['a control character in the title', { title: 'a\u0000b' }, 'request_invalid', '/title'],
    ['a line break in the title', { title: 'a\nb' }, 'request_invalid', '/title'],
    ['a reversed title', { title: 'a\u202efdp.exe' }, 'request_invalid', '/title'],
    ['an empty title', { title: ' ' }, 'request_invalid', '/title'],
    ['a long title', { title: 'x'.repeat(201) }, 'request_invalid', '/title'],
    ['an unknown author', { author_id: 'r-99' }, 'resource_not_found', '/author_id'],
    ['an author of another care unit', { author_id: 'r-6' }, 'resource_not_found', '/author_id'],
    ['a room as author', { author_id: 'r-5' }, 'author_not_practitioner', '/author_id'],
    ['an unknown field', { folder: 'x' }, 'request_invalid', '/folder'],
  ])('%s', async (_, fields, reason, pointer) => {
    const answer = await createDocument(gateway, fields);
    expect(answer).toMatchObject({ status: 400, body: { reason, errors: [{ pointer, reason }] } });
  });

  test.each(['Lab results 3/4', '~50 % bedre', 'Notat…', 'ab: c'])('the title %s is none', async (title) => {
    expect(await createDocument(gateway, { title })).toMatchObject({ status: 201, body: { title } });
  });

  test('content that is sent twice', async () => {
    const answer = await gateway.request('POST', path, {
      body: '{"content_type": "text/plain", "content": "eA==", "content": "eQ=="}',
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid', errors: [{ pointer: '/content' }] },
    });
  });

  test('an unknown patient', async () => {
    const answer = await createDocument(gateway, {}, { path: documentsOf('p-99') });
    expect(answer).toMatchObject({
      status: 404,
      body: { reason: 'patient_not_found', errors: [{ parameter: 'patient_id' }] },
    });
  });

  test.each([
    ['no boundary', { body: 'x', headers: { 'content-type': 'multipart/form-data' } }],
    ['another boundary', { ...form([]), headers: { 'content-type': 'multipart/form-data; boundary=other' } }],
    [
      'no end',
      { ...form([]), body: '--crossward-test-boundary\r\ncontent-disposition: form-data; name="content"\r\n\r\nx' },
    ],
    ['an unknown file', form([{ name: 'scan', value: 'x', fileName: 'x', type: 'text/plain' }])],
    [
      'a field twice',
      form([
        { name: 'title', value: 'x' },
        { name: 'title', value: 'y' },
        { name: 'content', value: 'x', type: 'text/plain' },
      ]),
    ],
    [
      'the content twice',
      form([
        { name: 'content', value: 'x', type: 'text/plain' },
        { name: 'content', value: 'x', type: 'text/plain' },
      ]),
    ],
    ['no content', form([{ name: 'content_type', value: 'text/plain' }])],
    [
      'a field with a prototype name',
      form([
        { name: '__proto__', value: 'x' },
        { name: 'content', value: 'x', type: 'text/plain' },
      ]),
    ],
    [
      'an unknown field',
      form([
        { name: 'folder', value: 'x' },
        { name: 'content', value: 'x', type: 'text/plain' },
      ]),
    ],
    [
      'a long field',
      form([
        { name: 'title', value: 'x'.repeat(20_000) },
        { name: 'content', value: 'x', type: 'text/plain' },
      ]),
    ],
    ['many fields', form(Array.from({ length: 50 }, (_, index) => ({ name: `f${index}`, value: 'x' })))],
    [
      'a field that is not UTF-8',
      form([
        { name: 'title', value: Buffer.from('på', 'latin1') },
        { name: 'content', value: 'x', type: 'text/plain' },
      ]),
    ],
    ['no parts', form([])],
    [
      'a part without a name',
      { ...form([]), body: `--crossward-test-boundary\r\ncontent-disposition: form-data\r\n\r\nx\r\n${contentPart()}` },
    ],
    [
      'encoded content, which would be stored in base64',
      { ...form([]), body: contentPart('content-type: text/plain\r\ncontent-transfer-encoding: base64\r\n') },
    ],
  ])('a form with %s', async (_, options) => {
    expect(await gateway.request<Problem>('POST', path, options)).toMatchObject({
      status: 400,
      body: {
        reason: 'request_invalid',
        errors: expect.arrayContaining([expect.objectContaining({ pointer: expect.any(String) })]),
      },
    });
  });

  test('another media type', async () => {
    const answer = await gateway.request('POST', path, { body: 'x', headers: { 'content-type': 'application/pdf' } });
    expect(answer).toMatchObject({ status: 415, body: { reason: 'media_type_unsupported' } });
  });

  test('a body whose other fields are long', async () => {
    const answer = await createDocument(gateway, { title: 'x'.repeat(1024 * 1024) });
    expect(answer).toMatchObject({ status: 413, body: { reason: 'content_too_large' } });
  });
});

test('a caller that disconnects in the middle of a body leaves nothing', async () => {
  const socket = beginDocument(path);
  await expect.poll(storedChunks).toBeGreaterThan(1);
  socket.destroy();
  await once(socket, 'close');
  await expect.poll(storedChunks).toBe(0);
  expect(gateway.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

test('the staging area shows nothing of the content', async () => {
  const socket = beginDocument(path);
  await expect.poll(storedChunks).toBeGreaterThan(1);
  const { rows } = await sql<{ sealed_content: Buffer }>`SELECT sealed_content FROM upload_chunks`.execute(db);
  expect(rows.every(({ sealed_content }) => !sealed_content.includes('Kari Nordmann'))).toBe(true);
  socket.destroy();
});

test('nothing is stored for a patient who does not exist', async () => {
  await sql`CREATE TABLE staged_ever (id uuid)`.execute(db);
  await sql`CREATE FUNCTION note_staged() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO staged_ever VALUES (NEW.id); RETURN NEW; END'`.execute(db);
  await sql`CREATE TRIGGER note_staged AFTER INSERT ON uploads FOR EACH ROW EXECUTE FUNCTION note_staged()`.execute(db);
  const stagedEver = async () => (await sql`SELECT FROM staged_ever`.execute(db)).rows.length;
  const large = pdfOf(2 * 1024 * 1024);
  const headers = { 'idempotency-key': randomUUID() };
  for (const options of [{}, { headers }, { headers }]) {
    const answer = await createLargeDocument(gateway, large, { path: documentsOf('p-99'), ...options });
    expect(answer).toMatchObject({ status: 404, body: { reason: 'patient_not_found' } });
  }
  const other = pdfOf(2 * 1024 * 1024);
  const reused = await createLargeDocument(gateway, other, { path: documentsOf('p-99'), headers });
  expect(reused.body.reason).toBe('idempotency_key_reused');
  const small = { content_type: 'application/pdf', content: base64(pdfOf(700_001)) };
  expect((await createDocument(gateway, small, { path: documentsOf('p-99') })).status).toBe(404);
  expect(await stagedEver()).toBe(0);
  expect((await createLargeDocument(gateway, large)).status).toBe(201);
  expect(await stagedEver()).toBe(1);
  await sql`DROP TRIGGER note_staged ON uploads`.execute(db);
});

test('a client sends at most eight documents of the maximum size at the same time', async () => {
  const sockets = Array.from({ length: 8 }, () => beginDocument(path));
  await expect.poll(async () => (await sql`SELECT FROM uploads`.execute(db)).rows.length, { timeout: 60_000 }).toBe(8);
  const ninth = await createDocument(gateway);
  expect(ninth).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, body: { reason: 'rate_limited' } });
  expect((await createDocument(gateway, {}, { client: 'documents:write' })).status).toBe(201);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await createDocument(gateway)).status).toBe(201);
});

test('a body that is rejected as it arrives takes nothing of what a client may send', async () => {
  const { id, secret } = gateway.credentials('everything');
  const credentials = `x-service-client-id: ${id}\r\nx-service-client-secret: ${secret}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${credentials}content-type: application/json\r\n`;
  for (let sent = 0; sent < 8; sent++) {
    const socket = connect(gateway.port, '127.0.0.1');
    // In one packet with the head: the parser ends the request before its hooks have run.
    socket.end(`${head}transfer-encoding: chunked\r\n\r\nno length\r\n`).resume();
    await once(socket, 'close');
  }
  expect((await createDocument(gateway)).status).toBe(201);
});

test('documents of another care unit or EHR are neither listed nor found', async () => {
  const { body } = await createDocument(gateway, {}, { path: documentsOf('p-5') });
  for (const elsewhere of [oslo.replace('oslo-sentrum', 'bergen-nord'), sodermalm]) {
    const there = documentsOf('p-5', elsewhere);
    expect((await gateway.request('GET', there)).body).toEqual({ documents: [], next_cursor: null });
    for (const suffix of ['', '/content']) {
      const answer = await gateway.request('GET', `${there}/${body.id}${suffix}`);
      expect(answer).toMatchObject({
        status: 404,
        body: { reason: 'document_not_found', errors: [{ parameter: 'document_id' }] },
      });
    }
  }
  const ofOther = await gateway.request('GET', `${documentsOf('p-6')}/${body.id}`);
  expect(ofOther).toMatchObject({ status: 404, body: { reason: 'document_not_found' } });
});

test('the list is newest first, in pages', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift((await createDocument(gateway, {}, { path: documentsOf('p-7') })).body.id);
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await gateway.request<{ documents: DocumentBody[]; next_cursor: string | null }>(
      'GET',
      `${documentsOf('p-7')}?limit=2${cursor}`,
    );
    seen.push(...body.documents.map(({ id }) => id));
    if (body.next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  expect(seen).toEqual(ids);
});

test('HEAD of a content is not offered', async () => {
  const { body } = await createDocument(gateway);
  expect(await gateway.request('HEAD', `${path}/${body.id}/content`)).toMatchObject({
    status: 405,
    headers: { allow: 'GET' },
  });
});
