import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { type FaultProxy, startFaultProxy } from '../ehrs/fault-proxy.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { finalResponse, nextCall } from '../gateway/recovery.ts';
import { eventually } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import {
  fileWrite,
  noteWrite,
  type RecordWrite,
  scheduleChange,
  scheduleWrite,
  send,
  startFhirGateway,
} from './records.ts';

/* What an EHR does with a write of a record is told to the caller, and done once, whatever happens in between. */

const fake = await startFake({ heedsIfNoneExist: false, data: { days: 7 } });
let proxy: FaultProxy;
let gateway: Gateway;
beforeAll(async () => {
  proxy = await startFaultProxy(fake.url);
  gateway = await startFhirGateway(proxy.url, { schedules: { write: true, horizon_days: 365 } });
});
afterEach(() => proxy.comeUp());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await fake.close();
});

const unknown = { status: 504, body: { reason: 'outcome_unknown' } };
const kinds: readonly (readonly [string, () => Promise<RecordWrite> | RecordWrite])[] = [
  ['a note', () => noteWrite(fake)],
  ['a document', () => fileWrite(fake)],
  ['a schedule', () => scheduleWrite(fake)],
  ['an end of a schedule', () => scheduleChange(gateway, fake, 'end')],
  ['an exception of a schedule', () => scheduleChange(gateway, fake, 'exceptions')],
];

/** The EHR is unavailable for a round of background recovery and for a retry, and then available again. */
async function outage(write: RecordWrite, key: string): Promise<void> {
  await nextCall(gateway, 'fhir', 'unavailable');
  const { status, body } = await send(gateway, write, key);
  expect([409, 504], body.reason).toContain(status);
  await proxy.comeUp();
}

describe.each(kinds)('%s', (_, prepare) => {
  test('that the EHR makes before it stays unavailable is told to the retry', async () => {
    const [write, key] = [await prepare(), newKey()];
    proxy.commitThenGoDown(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    await outage(write, key);
    const { status, body, text } = await finalResponse(() => send(gateway, write, key));
    expect(status, text).toBe(write.status);
    await eventually(() => expect(write.count()).toBe(1));
    expect((await send(gateway, write, key)).body).toEqual(body);
  });

  test('that the EHR makes late is there once', async () => {
    const [write, key] = [await prepare(), newKey()];
    const late = proxy.finishLate(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    await outage(write, key);
    const { status, body, text } = await finalResponse(() => send(gateway, write, key));
    expect(status, text).toBe(write.status);
    await late.finish();
    await eventually(() => expect(write.count()).toBe(1));
    expect((await send(gateway, write, key)).body).toEqual(body);
  });

  test('that somebody changes in between stays as it is', async () => {
    const [write, key] = [await prepare(), newKey()];
    proxy.commitThenGoDown(write.isWrite);
    expect(await send(gateway, write, key)).toMatchObject(unknown);
    if (write.count() > 0) write.change();
    await outage(write, key);
    const { status, text } = await finalResponse(() => send(gateway, write, key));
    expect(status, text).toBe(write.status);
    if (!write.isChanged()) write.change();
    await eventually(() => expect(write.count()).toBe(1));
    expect(write.isChanged()).toBe(true);
  });
});
