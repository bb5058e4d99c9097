import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { createKeyRing, keyIdentity } from '../secrets/key-ring.ts';
import { sealedColumns } from './kept-under.ts';
import { listKnownKeys, requireKnownKeys, retireKey } from './require-known-keys.ts';

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const idOf = (key: Buffer) => keyIdentity(key).id;
const rejectedFor = (key: Buffer) =>
  expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(`secret key ${idOf(key)}`) });

let test: TestDatabase;
let db: Db;
beforeEach(async () => {
  test = await createTestDatabase();
  db = createDb(test.database);
});
afterEach(() => test.dispose());

async function putDraft(key: Buffer): Promise<void> {
  const sealed = createKeyRing([key]).seal('confirmation', 'a draft', 'context');
  const confirmation = randomUUID();
  await sql`
    INSERT INTO confirmations (id, client_id, emr, care_unit_id, kind, channel, max_attempts, expires_at)
    VALUES (${confirmation}, 'c', 'e', 'u', 'booking', 'sms', 5, now())`.execute(db);
  await sql`
    INSERT INTO confirmation_items (emr, appointment_id, confirmation_id, care_unit_id, position, kind, sealed_draft)
    VALUES ('e', ${randomUUID()}, ${confirmation}, 'u', 0, 'booking', ${sealed})`.execute(db);
}

async function insertKey(createdAgo: string): Promise<void> {
  await sql`
    INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, created_at)
    VALUES (${randomUUID()}, 'c', ${randomBytes(32)}, ${randomBytes(32)}, 'e', 'u', now() - ${createdAgo}::interval)`.execute(
    db,
  );
}

it('includes every column with encrypted text', async () => {
  const { rows } = await sql<{ name: string }>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type = 'bytea' AND column_name LIKE 'sealed%'`.execute(db);
  expect(rows.map(({ name }) => name).sort()).toEqual([...sealedColumns].sort());
});

describe('an empty database', () => {
  it('accepts the key of the first start only', async () => {
    await requireKnownKeys(db, [first]);
    await requireKnownKeys(db, [first]);
    await expect(requireKnownKeys(db, [second])).rejects.toThrow(rejectedFor(first));
    await expect(requireKnownKeys(db, [second, third])).rejects.toThrow(rejectedFor(first));
    await requireKnownKeys(db, [first]);
  });

  it('accepts one of the keys of gateways that start at once', async () => {
    const keys = [first, second, third];
    const starts = await Promise.allSettled(keys.map((key) => requireKnownKeys(db, [key])));
    const taken = keys.filter((_, index) => starts[index]?.status === 'fulfilled');
    expect(taken).toHaveLength(1);
    expect(await listKnownKeys(db)).toMatchObject([{ id: idOf(taken[0] ?? first), replaced_at: null }]);
  });

  it('stores nothing that reveals the key', async () => {
    await requireKnownKeys(db, [first]);
    const [known] = await listKnownKeys(db);
    for (const form of ['hex', 'base64'] as const) expect(JSON.stringify(known)).not.toContain(first.toString(form));
  });
});

describe('a key that was replaced', () => {
  beforeEach(() => requireKnownKeys(db, [first]));

  it('is not accepted alone', async () => {
    await requireKnownKeys(db, [second, first]);
    await expect(requireKnownKeys(db, [first])).rejects.toThrow(rejectedFor(second));
    await requireKnownKeys(db, [first, second]);
    await expect(requireKnownKeys(db, [second])).rejects.toThrow(rejectedFor(first));
  });

  it('can be configured before it is used', async () => {
    await requireKnownKeys(db, [first, second]);
    await requireKnownKeys(db, [first]);
  });

  it('is required while a value is encrypted with it', async () => {
    await putDraft(first);
    await requireKnownKeys(db, [second, first]);
    await expect(requireKnownKeys(db, [second])).rejects.toThrow(rejectedFor(first));
    await sql`DELETE FROM confirmation_items`.execute(db);
    await requireKnownKeys(db, [second]);
    expect(await listKnownKeys(db)).toMatchObject([{ id: idOf(second) }]);
  });

  it('is required while a value may be hashed with it', async () => {
    await insertKey('1 minute');
    await requireKnownKeys(db, [second, first]);
    await expect(requireKnownKeys(db, [second])).rejects.toThrow(rejectedFor(first));
    await sql`DELETE FROM operations`.execute(db);
    await insertKey('-1 minute');
    await requireKnownKeys(db, [second]);
  });
});

it('is not required once it is retired', async () => {
  await requireKnownKeys(db, [first]);
  await putDraft(first);
  expect(await retireKey(db, idOf(second))).toBe(false);
  expect(await retireKey(db, idOf(first))).toBe(true);
  expect(await retireKey(db, idOf(first))).toBe(false);
  await requireKnownKeys(db, [second]);
  await expect(requireKnownKeys(db, [first])).rejects.toThrow(rejectedFor(second));
});

describe('the error', () => {
  beforeEach(() => requireKnownKeys(db, [first]));
  const messageFor = (file?: string) => requireKnownKeys(db, [second], file).catch((error: Error) => error.message);

  it('explains what to do about keys of the environment', async () => {
    const text = await messageFor();
    expect(text).toMatch(new RegExp(`^CROSSWARD_SECRET_KEY: .*${idOf(first)}.*configured: ${idOf(second)}$`, 'm'));
    expect(text).toContain('CROSSWARD_PREVIOUS_SECRET_KEYS');
    expect(text).toContain(`npx crossward secret-keys retire ${idOf(first)}`);
  });

  it('names the place of older keys alone, for one that was replaced', async () => {
    await requireKnownKeys(db, [second, first]);
    await putDraft(first);
    const text = await messageFor();
    expect(text).toMatch(new RegExp(`^CROSSWARD_PREVIOUS_SECRET_KEYS: .*${idOf(first)}`, 'm'));
    expect(text).not.toContain('CROSSWARD_SECRET_KEY');
    expect(text).toContain(`npx crossward secret-keys retire ${idOf(first)}`);
  });

  it('explains what to do about the key of the demo', async () => {
    const text = await messageFor('/data/secret-key');
    expect(text).toMatch(/^\/data\/secret-key: /);
    expect(text).toContain('CROSSWARD_DATA_DIR');
    expect(text).not.toContain('CROSSWARD_PREVIOUS_SECRET_KEYS');
  });
});
