/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Connector, ConnectorError, type Document, type DocumentWrite } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { finalResponse, withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { createDocument, type DocumentBody, documentsOf, pdfOf } from '../../../test/requests/documents.ts';
import { createDb } from '../db/kysely.ts';
import { suspendedFor } from '../time/test-suspension.ts';
import { deleteOldUploads } from '../uploads/remove-uploads.ts';

/*
 * A document is never lost after a 201, and never stored twice under a key, whatever interrupts its write. Its content
 * stays in the staging area for as long as it may be needed, and no longer.
 */

/** Performs a write in the EHR. With `received`, the EHR already has the content. */
type Perform = (received?: Buffer) => Promise<Document>;
/** Decides what happens to a write. */
type Fate = (perform: Perform, write: DocumentWrite) => Promise<Document>;

const fates: Fate[] = [];
let isUnavailable = false;
let writes: string[] = [];

function faulty(connector: Connector): Connector {
  const guarded = Object.entries(connector).map(([name, member]) => [
    name,
    typeof member === 'function' && /Document/.test(name)
      ? async (...input: unknown[]) => {
          if (isUnavailable) throw new ConnectorError('unavailable', 'Simulated');
          return member(...input);
        }
      : member,
  ]);
  const working = Object.fromEntries(guarded) as Connector;
  return {
    ...working,
    async createDocument(write: DocumentWrite) {
      if (isUnavailable) throw new ConnectorError('unavailable', 'Simulated');
      writes.push(write.operationId);
      const perform = async (received?: Buffer) => {
        const content = received ? { content: () => Readable.from([received]) } : {};
        return (await connector.createDocument?.({ ...write, ...content })) as Document;
      };
      return (fates.shift() ?? ((it) => it()))(perform, write);
    },
  };
}

const options = { configure: withQuickRecovery, connectors: [wrapConnector(faulty)] };
const gateway = await startGateway(options);
const db = createDb(gateway.database);
afterAll(() => gateway.close());

let patient = 0;
let path = '';
beforeEach(() => {
  fates.splice(0);
  writes = [];
  isUnavailable = false;
  path = documentsOf(`p-${++patient}`);
});

const bytes = pdfOf(200_000);
const fields = { content_type: 'application/pdf', content: bytes.toString('base64'), title: 'Once' };

async function uploads(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM uploads`.execute(db);
  return rows[0]?.count ?? -1;
}

async function documents(): Promise<readonly DocumentBody[]> {
  return (await gateway.request<{ documents: DocumentBody[] }>('GET', path)).body.documents;
}

async function expectOneDocument(id: string): Promise<void> {
  expect((await documents()).map((it) => it.id)).toEqual([id]);
  expect((await gateway.request('GET', `${path}/${id}/content`)).bytes.equals(bytes)).toBe(true);
  await expect.poll(uploads).toBe(0);
  expect(new Set(writes).size).toBe(1);
}

/** The response to the next write is lost, whether or not the EHR performs it. */
function loseResponse(isDone: boolean): void {
  fates.push(async (write) => {
    if (isDone) await write();
    throw new ConnectorError('outcome_unknown', 'Simulated');
  });
}

/** The EHR gets the next write, reads its content, and performs it when the test says so. */
function finishLate(): Perform {
  let finish: Perform | undefined;
  fates.push(async (write) => {
    finish = write;
    throw new ConnectorError('outcome_unknown', 'Simulated');
  });
  return async (received) => {
    if (!finish) throw new Error('The EHR has not received the write');
    return finish(received);
  };
}

const unknown = { status: 504, body: { reason: 'outcome_unknown' } };

function send(headers: Readonly<Record<string, string>>) {
  return createDocument(gateway, fields, { path, headers });
}

describe.each([true, false])('after a lost response (performed by the EHR: %s)', (isDone) => {
  test('the retry finishes the write', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    loseResponse(isDone);
    expect(await send(headers)).toMatchObject(unknown);
    const retry = await finalResponse(() => send(headers));
    expect(retry.status).toBe(201);
    await expectOneDocument(retry.body.id);
  });

  test('an EHR that stays unavailable across the retry and the recovery gets the content in the end', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    fates.push(async (write) => {
      if (isDone) await write();
      isUnavailable = true;
      throw new ConnectorError('outcome_unknown', 'Simulated');
    });
    expect(await send(headers)).toMatchObject(unknown);
    expect(await send(headers)).toMatchObject({ status: expect.toBeOneOf([409, 504]) });
    expect(await uploads()).toBe(1);
    isUnavailable = false;
    const retry = await finalResponse(() => send(headers));
    expect(retry.status).toBe(201);
    await expectOneDocument(retry.body.id);
  });
});

test('a write that the EHR performs after the response to the caller is found by the retry', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const finish = finishLate();
  expect(await send(headers)).toMatchObject(unknown);
  const { id } = await finish();
  const retry = await finalResponse(() => send(headers));
  expect(retry).toMatchObject({ status: 201, body: { id } });
  await expectOneDocument(id);
});

test('content of which the database has lost a part is not sent to the EHR, and can be sent again', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  // As a failover that does not have the newest chunk yet.
  await sql`CREATE FUNCTION lose_chunk() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`.execute(db);
  await sql`
    CREATE TRIGGER lose_chunk BEFORE INSERT ON upload_chunks
      FOR EACH ROW WHEN (NEW.position = 2) EXECUTE FUNCTION lose_chunk()`.execute(db);
  try {
    expect(await send(headers)).toMatchObject({ status: 503, body: { reason: 'database_unavailable' } });
  } finally {
    await sql`DROP FUNCTION lose_chunk CASCADE`.execute(db);
  }
  expect([writes, await uploads()]).toEqual([[], 0]);
  const retry = await send(headers);
  expect(retry.status).toBe(201);
  await expectOneDocument(retry.body.id);
});

describe('a write without a key that the EHR performs late', () => {
  test('is kept, and its content leaves the staging area', async () => {
    loseResponse(true);
    expect(await send({})).toMatchObject(unknown);
    await expect.poll(uploads).toBe(0);
    expect(await documents()).toHaveLength(1);
  });

  test('leaves nothing in the staging area if the EHR never performs it', async () => {
    loseResponse(false);
    expect(await send({})).toMatchObject(unknown);
    await expect.poll(uploads).toBe(0);
    expect(await documents()).toEqual([]);
  });
});

describe('a document that the EHR stores after the caller got a rejection', () => {
  async function storeLate(received?: Buffer, before = () => {}): Promise<Document> {
    const headers = { 'idempotency-key': randomUUID() };
    const finish = finishLate();
    fates.push(() => Promise.reject(new ConnectorError('patient_not_found', 'Simulated')));
    expect(await send(headers)).toMatchObject(unknown);
    const rejected = await finalResponse(() => send(headers));
    expect(rejected.status).toBe(404);
    before();
    return finish(received);
  }

  test('is withdrawn', async () => {
    await storeLate(bytes);
    await expect.poll(documents).toEqual([]);
    await expect.poll(uploads).toBe(0);
  });

  test('is kept if staff have changed it since', async () => {
    const { id } = await storeLate(bytes, () => {
      // Background recovery sees it only after the change.
      isUnavailable = true;
    });
    await sql`UPDATE sandbox.documents SET title = 'By staff', changed_at = now() WHERE id = ${id}`.execute(db);
    isUnavailable = false;
    await expect.poll(uploads).toBe(0);
    expect((await documents()).map((it) => it.title)).toEqual(['By staff']);
  });

  test('cannot be stored if the EHR has not read its content, which has left the staging area', async () => {
    await expect(storeLate()).rejects.toThrow('missing');
    expect(await documents()).toEqual([]);
    await expect.poll(uploads).toBe(0);
  });
});

test('a document that staff change after a lost response is kept as it is', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  loseResponse(true);
  expect(await send(headers)).toMatchObject(unknown);
  await sql`UPDATE sandbox.documents SET title = 'By staff', changed_at = now() WHERE emr = 'sandbox-no'
    AND patient_id = ${`p-${patient}`}`.execute(db);
  const retry = await finalResponse(() => send(headers));
  // The response may have been stored by background recovery, before or after the change.
  expect(retry.status).toBe(201);
  const found = await gateway.request<{ title: string }>('GET', `${path}/${retry.body.id}`);
  expect(found.body.title).toBe('By staff');
  await expectOneDocument(retry.body.id);
});

test('the lease is renewed while the EHR takes the content', async () => {
  const leaseEnd = async () => {
    const { rows } = await sql<{ end: Date }>`SELECT max(lease_expires_at) AS end FROM operations`.execute(db);
    return rows[0]?.end.getTime() ?? 0;
  };
  let [before, after] = [0, 0];
  fates.push(async (perform, write) => {
    before = await leaseEnd();
    // Longer than the margin of a lease, shorter than a pause of the machine that the gateway notices.
    const { restore } = await suspendedFor(7);
    for await (const _ of write.content()) break;
    restore();
    after = await leaseEnd();
    return perform();
  });
  expect((await send({ 'idempotency-key': randomUUID() })).status).toBe(201);
  expect(after).toBeGreaterThan(before);
});

test('a rejection by the EHR leaves nothing', async () => {
  fates.push(() => Promise.reject(new ConnectorError('rejected', 'Simulated')));
  expect(await send({ 'idempotency-key': randomUUID() })).toMatchObject({
    status: 502,
    body: { reason: 'ehr_rejected' },
  });
  expect(await uploads()).toBe(0);
  expect(await documents()).toEqual([]);
});

if (inject('databaseKind') === 'postgresql')
  test('another gateway sends the content again', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    loseResponse(false);
    expect(await send(headers)).toMatchObject(unknown);
    const other = await startGateway({ ...options, beside: gateway });
    const retry = await finalResponse(() => createDocument(other, fields, { path, headers })).finally(() =>
      other.close(),
    );
    expect(retry.status).toBe(201);
    await expectOneDocument(retry.body.id);
  });

test('uploads that were left behind are deleted, and those of operations that go on are not', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  fates.push(async () => {
    isUnavailable = true;
    throw new ConnectorError('outcome_unknown', 'Simulated');
  });
  expect(await send(headers)).toMatchObject(unknown);
  await sql`INSERT INTO uploads (id, operation_id) VALUES (gen_random_uuid(), NULL), (gen_random_uuid(), gen_random_uuid())`.execute(
    db,
  );
  await deleteOldUploads(db, 10);
  expect(await uploads()).toBe(3);
  await sql`UPDATE uploads SET created_at = now() - interval '3 hours'`.execute(db);
  await deleteOldUploads(db, 10);
  expect(await uploads()).toBe(1);
  isUnavailable = false;
  const { status } = await finalResponse(() => send(headers));
  expect(status).toBe(201);
  await expect.poll(uploads).toBe(0);
});
