import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { type FaultProxy, startFaultProxy } from '../ehrs/fault-proxy.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall, settledResponse } from '../gateway/recovery.ts';
import { backdateWrites, eventually } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { fileWrite, noteWrite, send, startFhirGateway } from './records.ts';

/* A server that drops operation ids gets a note or document once, and the gateway looks for it in the patient's record. */

const fake = await startFake({ dropsIdentifiers: true, data: { days: 3 } });
let proxy: FaultProxy;
let gateway: Gateway;
beforeAll(async () => {
  proxy = await startFaultProxy(fake.url);
  gateway = await startFhirGateway(proxy.url, { booking: { operation_lookup: false } });
});
afterEach(() => proxy.comeUp());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await fake.close();
});

const unknown = { status: 504, body: { reason: 'outcome_unknown' } };
const creates = () => fake.seen.filter(({ method, path }) => method === 'POST' && path === '/DocumentReference').length;

describe.each([
  ['a note', noteWrite],
  ['a document', fileWrite],
])('%s', (_, prepare) => {
  test('that the EHR makes before it stays unavailable is found by the retry', async () => {
    const [write, key, before] = [prepare(fake), newKey(), creates()];
    proxy.commitThenGoDown(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    await nextCall(gateway, 'fhir', 'unavailable');
    expect((await settledResponse(() => send(gateway, write, key))).status).toBe(504);
    await proxy.comeUp();
    const { status, body, text } = await finalResponse(() => send(gateway, write, key));
    expect(status, text).toBe(201);
    expect((await gateway.request('GET', `${write.path}/${body.id}`)).status).toBe(200);
    expect([creates() - before, write.count()]).toEqual([1, 1]);
  });

  test('that the EHR makes late is found by the retry', async () => {
    const [write, key, before] = [prepare(fake), newKey(), creates()];
    const late = proxy.deliverLate(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    expect(await settledResponse(() => send(gateway, write, key))).toMatchObject(unknown);
    await late.finish();
    expect((await finalResponse(() => send(gateway, write, key))).status).toBe(201);
    expect([creates() - before, write.count()]).toEqual([1, 1]);
  });

  test('that somebody changes in between is not sent again, and nobody can tell', async () => {
    const [write, key, before] = [prepare(fake), newKey(), creates()];
    proxy.commitThenGoDown(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    write.change();
    await proxy.comeUp();
    await eventually(async () => {
      await backdateWrites(gateway);
      expect(await send(gateway, write, key)).toMatchObject({ ...unknown, body: { retryable: false } });
    });
    expect([creates() - before, write.count()]).toEqual([1, 1]);
  });

  test('that never arrived is not sent again', async () => {
    const [write, key, before] = [prepare(fake), newKey(), creates()];
    proxy.deliverLate(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    await eventually(async () => {
      await backdateWrites(gateway);
      expect(await send(gateway, write, key)).toMatchObject({ ...unknown, body: { retryable: false } });
    });
    expect([creates() - before, write.count()]).toEqual([0, 0]);
  });

  test('of which there are two alike is not taken for that of another request', async () => {
    const [write, key] = [prepare(fake), newKey()];
    proxy.commitThenGoDown(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    const [like] = fake.store.all('DocumentReference').slice(-1);
    const { id: _, ...copy } = like as NonNullable<typeof like>;
    fake.store.save(copy);
    expect(write.count()).toBe(2);
    await proxy.comeUp();
    expect(await settledResponse(() => send(gateway, write, key))).toMatchObject(unknown);
  });
});
