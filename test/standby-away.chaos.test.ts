import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgresPair } from './database/postgres-pair.ts';
import { startChild } from './processes/child-gateway.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import { creationBody, riverside, type Slot } from './requests/bookings.ts';

interface Answer {
  readonly id?: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  readonly origin?: string;
}

/** Seconds. 30 for the database, and 2 for each statement that notes what happened, on a busy machine. */
const longest = 45;

test('bookings by code are told in time that a commit waits for an absent standby, and are made once by their retries', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-standby-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const pair = await startPostgresPair();
  onTestFinished(() => pair.stop());
  const gateway = await startChild({
    dataDir: join(folder, 'data'),
    databaseUrl: pair.primaryUrl,
    setup: await writeQuickDemo(folder),
  });
  onTestFinished(() => gateway.kill());
  const [start, end] = [7, 28].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const path = `${riverside}/timeslots?start=${start}&end=${end}`;
  const found = await gateway.send<{ timeslots: Slot[] }>({ method: 'GET', path });
  const slots = (found?.body.timeslots ?? []).filter((_, index) => index % 5 === 0).slice(0, 4);
  expect(slots).toHaveLength(4);
  const bookings = slots.map((slot) => ({ body: creationBody(slot), key: randomUUID() }));
  const book = ({ body, key }: (typeof bookings)[number]) =>
    gateway.send<Answer>({
      method: 'POST',
      path: `${riverside}/appointments`,
      body,
      headers: { 'idempotency-key': key },
    });

  await pair.pauseStandby();
  const asked = performance.now();
  await Promise.all(
    bookings.map(async (booking) => {
      const response = await book(booking);
      const seconds = (performance.now() - asked) / 1_000;
      expect(response?.body).toMatchObject({ origin: 'gateway', retryable: true });
      expect(['database_unavailable', 'outcome_unknown']).toContain(response?.body.reason);
      expect([503, 504]).toContain(response?.status);
      expect(seconds).toBeLessThan(longest);
    }),
  );
  pair.resumeStandby();
  const ids = await Promise.all(
    bookings.map(async (booking) => {
      let id: string | undefined;
      await expect
        .poll(async () => {
          const response = await book(booking);
          id = response?.body.id;
          return response?.status;
        })
        .toBe(201);
      return id;
    }),
  );
  expect(new Set(ids).size).toBe(4);
});
