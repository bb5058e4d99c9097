import { afterAll, expect, test } from 'vitest';
import type { Problem } from '../../../test/gateway/gateway.ts';
import { startProxiedGateway } from '../../../test/postgres-proxy/proxied-gateway.ts';
import type { Matches } from '../../../test/postgres-proxy/ways.ts';
import { type Appointment, creationBody, freeSlot, oslo, sodermalm } from '../../../test/requests/bookings.ts';
import { eventually, runBackgroundJobs } from '../../../test/requests/codes.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { newRequestId } from '../../../test/requests/request-id.ts';
import { createDb } from '../db/kysely.ts';
import { auditEntries } from './test-audit.ts';

const gateway = await startProxiedGateway();
afterAll(() => gateway.close());
const db = createDb(gateway.database);

/** The statement that ends a write, or its commit. */
const endsOperation: Matches = ({ kind, statements }) =>
  kind !== 'part' && statements.some((text) => /DELETE FROM operations WHERE id|response\.sealed_response/.test(text));

const keyed = () => ({ 'idempotency-key': newKey() });
const writes = [
  ['a booking with a key', oslo, keyed],
  ['a booking without a key', oslo, () => ({})],
  ['a booking by code with a key', sodermalm, keyed],
] as const;
const ways = [
  ['its answer is lost', { kind: 'after' }],
  ['it is lost', { kind: 'before' }],
  ['its answer is lost except for ReadyForQuery', { kind: 'in answer' }],
] as const;

test.each(writes.flatMap((write) => ways.map((way) => [...write, ...way] as const)))(
  '%s: the trail says what was told, and what became of it, once each, if the connection fails at its end',
  async (_name, careUnit, headers, _fails, way) => {
    const requestId = newRequestId();
    const body = creationBody(await freeSlot(gateway, { careUnit }));
    const cut = gateway.proxy.cutNext(way, endsOperation);
    const response = await gateway.request<Appointment & Problem>('POST', `${careUnit}/appointments`, {
      body,
      headers: { ...headers(), 'x-request-id': requestId },
    });
    await cut.settled;
    expect(response.body.reason).toBe('outcome_unknown');
    const writeId = await eventually(async () => {
      const told = (await auditEntries(db, requestId)).find(({ outcome }) => outcome === 'outcome_unknown');
      expect(told?.operation_id).toEqual(expect.any(String));
      return told?.operation_id ?? '';
    });
    await eventually(async () => {
      await runBackgroundJobs(gateway);
      const entries = (await auditEntries(db, writeId)).filter(({ outcome }) => outcome !== 'looked_up');
      expect(entries.map(({ client_id }) => client_id)).toEqual(['everything', 'everything']);
      expect(entries.map(({ outcome }) => outcome).toSorted()).toEqual([
        'outcome_unknown',
        // Nobody received the code of a booking that was not ended.
        careUnit === sodermalm && way.kind === 'before' ? 'undone' : 'success',
      ]);
    });
  },
);
