import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, type TestContext } from 'vitest';
import { type Database, openDatabase } from '../../server/src/db/database.ts';
import { createTestDatabase } from '../database/database.ts';
import { findViolations } from '../database/invariants.ts';
import { startPostgresProxy } from '../postgres-proxy/postgres-proxy.ts';
import { type ChildGateway, type ChildRequest, type ChildResponse, startChild } from '../processes/child-gateway.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';
import { rebookingEmr } from '../processes/rebooking-emr.ts';
import type { Appointment, Slot } from '../requests/bookings.ts';
import { codeIn, eventually, type Message } from '../requests/codes.ts';

export const dayMilliseconds = 24 * 60 * 60 * 1000;

export type Kind = 'postgresql' | 'pglite';
export type Body = Appointment & { readonly appointments: Appointment[]; readonly reason?: string };
export type AppointmentResponse = ChildResponse<Body>;

interface WorldOptions {
  /** PostgreSQL only: a proxy stands between the gateway and the database. */
  readonly proxied?: boolean;
}

/** One gateway process at a time on one database, restarted after each crash. */
export async function createWorld(
  kind: Kind,
  onTestFinished: TestContext['onTestFinished'],
  { proxied = false }: WorldOptions = {},
) {
  const folder = await mkdtemp(join(inject('runFolder'), 'crash-'));
  const dataDir = join(folder, 'data');
  const setup = await writeQuickDemo(folder, {}, ([first]) => (first ? [{ ...first, id: rebookingEmr }] : []));
  const postgres = kind === 'postgresql' ? await createTestDatabase(kind) : undefined;
  const proxy = proxied && postgres?.url ? await startPostgresProxy(postgres.url) : undefined;
  let child = await start();
  const slotLists = new Map<string, Slot[]>();

  function start(variables: Record<string, string> = {}): Promise<ChildGateway> {
    return startChild({ dataDir, databaseUrl: proxy?.url ?? postgres?.url, setup, preload: 'kill-at', variables });
  }

  /** Sends the request again while a gateway that has just started is overloaded: it has changed nothing. `undefined`: it ended. */
  async function answered(request: ChildRequest): Promise<AppointmentResponse | undefined> {
    for (let busy = 0; ; busy++) {
      const response = await child.send<Body>(request);
      if (response?.body.reason !== 'overloaded' || busy === 60) return response;
      await sleep(1000);
    }
  }

  async function send(request: ChildRequest): Promise<AppointmentResponse> {
    const response = await answered(request);
    if (!response) throw new Error('The gateway process ended');
    return response;
  }

  async function done(request: ChildRequest): Promise<AppointmentResponse> {
    const response = await send(request);
    if (response.status >= 300) throw new Error(`${request.method} ${request.path}: ${response.text}`);
    return response;
  }

  const world = {
    proxy,
    send,
    done,
    /** Sends a request that kills the gateway, and restarts the gateway. */
    async crashDuring(request: ChildRequest): Promise<void> {
      const response = await answered(request);
      if (response) {
        const statements = decodeURIComponent(response.headers.get('x-statements') ?? '');
        throw new Error(`${JSON.stringify(request.headers)}: not killed, but ${response.status} after ${statements}`);
      }
      await world.restart();
    },
    async restart(variables?: Record<string, string>): Promise<void> {
      await child.kill();
      await world.expireLeases();
      child = await start(variables);
    },
    /** PostgreSQL only. */
    async expireLeases(): Promise<void> {
      if (postgres)
        await query(
          postgres.database,
          'UPDATE operations SET lease_token = NULL, lease_expires_at = NULL, next_attempt_at = CASE WHEN next_attempt_at IS NOT NULL THEN now() END WHERE lease_token IS NOT NULL',
        );
    },
    async ended(): Promise<void> {
      await child.ended;
    },
    /** Retries the request while another process holds its lease, and for a minute while the database is too busy. */
    async settled(request: ChildRequest): Promise<AppointmentResponse> {
      for (let busy = 0; ; ) {
        const response = await send(request);
        const { reason = '' } = response.body;
        if (['outcome_unknown', 'database_unavailable'].includes(reason)) busy++;
        else if (reason !== 'idempotency_in_progress') return response;
        if (busy === 60) return response;
        await sleep(busy > 0 ? 1000 : 50);
      }
    },
    /** Consecutive free slots that were not used before. */
    async take(careUnit: string, resourceId: string, count: number): Promise<Slot[]> {
      const name = `${careUnit} ${resourceId}`;
      const slots = slotLists.get(name) ?? (await list(careUnit, resourceId));
      slotLists.set(name, slots);
      for (;;) {
        const run = slots.slice(0, count);
        if (run.length < count) throw new Error('No free slots left');
        const isRun = run.every((slot, index) => index === 0 || run[index - 1]?.end === slot.start);
        slots.splice(0, isRun ? count : 1);
        if (isRun) return run;
      }
    },
    async get(careUnit: string, id: string): Promise<Appointment> {
      return (await done({ method: 'GET', path: `${careUnit}/appointments/${id}` })).body;
    },
    /** Backdates the code of a confirmation so that a resend is allowed. */
    async allowResend(confirmationId: string): Promise<void> {
      const sql = `UPDATE confirmations SET last_code_sent_at = last_code_sent_at - interval '31 seconds' WHERE id = $1`;
      if (postgres) await query(postgres.database, sql, [confirmationId]);
      else await whileStopped((database) => query(database, sql, [confirmationId]));
    },
    /** The appointments that occupy any of the time. */
    async at(careUnit: string, first: Slot, last: Slot = first): Promise<Appointment[]> {
      const range = new URLSearchParams({ resource_id: first.resource_id, start: first.start, end: last.end });
      const path = `${careUnit}/appointments?${range}&status=booked&status=awaiting_confirmation`;
      return (await done({ method: 'GET', path })).body.appointments;
    },
    async messages(): Promise<readonly Message[]> {
      const { body } = await done({ method: 'GET', path: '/demo/messages', headers: { accept: 'application/json' } });
      return (body as unknown as { messages: Message[] }).messages;
    },
    /** Waits for the only message about an appointment and returns its code. */
    async codeFor(id: string): Promise<string> {
      const [code] = await world.codesFor(id, 1);
      return code as string;
    },
    /** Waits for exactly `count` messages about an appointment and returns their codes, newest first. */
    codesFor(id: string, count: number): Promise<readonly string[]> {
      return eventually(async () => {
        const found = (await world.messages()).filter((it) => it.appointment_id === id);
        expect(found).toHaveLength(count);
        return found.map((message) => codeIn(message));
      });
    },
    /** Waits until no operation or background job is pending. */
    async violations(): Promise<Record<string, unknown[]>> {
      for (let look = 1; ; look++) {
        const found = await violationsNow();
        if (look === 24 || Object.keys(found).length === 0) return found;
        // A job of a crashed process is retried within half a minute.
        await sleep(5_000);
      }
    },
    async dispose(): Promise<void> {
      await child.kill();
      await proxy?.close();
      await postgres?.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
  onTestFinished(world.dispose);
  return world;

  async function violationsNow(): Promise<Record<string, unknown[]>> {
    return postgres ? findViolations(postgres.database) : whileStopped(findViolations);
  }

  /** Only one process can open the embedded database. */
  async function whileStopped<Result>(look: (database: Database) => Promise<Result>): Promise<Result> {
    await child.kill();
    const database = await openDatabase({ dataDir });
    const found = await look(database).finally(() => database.close());
    child = await start();
    return found;
  }

  async function query({ pool }: Database, sql: string, values: readonly unknown[] = []): Promise<void> {
    const client = await pool.connect();
    await client.query(sql, values);
    client.release();
  }

  async function list(careUnit: string, resourceId: string): Promise<Slot[]> {
    const slots: Slot[] = [];
    const from = Date.now() + 7 * dayMilliseconds;
    const query = new URLSearchParams({
      start: new Date(from).toISOString(),
      end: new Date(from + 50 * dayMilliseconds).toISOString(),
      resource_id: resourceId,
      healthcare_service_id: 'consultation',
      limit: '100',
    });
    for (let cursor: string | null = ''; cursor !== null; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const { body } = await done({ method: 'GET', path: `${careUnit}/timeslots?${query}` });
      const page = body as unknown as { timeslots: Slot[]; next_cursor: string | null };
      slots.push(...page.timeslots);
      cursor = page.next_cursor;
    }
    return slots;
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>;
