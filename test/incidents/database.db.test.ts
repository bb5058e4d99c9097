import { expect, onTestFinished, test, vi } from 'vitest';
import { checkDatabase } from '../../server/src/cli/doctor/check-database.ts';
import { readEnvironment } from '../../server/src/config/environment/environment.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { connectors } from '../../server/src/ehr/connectors.ts';
import { createTestDatabase } from '../database/database.ts';
import { startPostgresProxy } from '../postgres-proxy/postgres-proxy.ts';
import { startProxiedGateway } from '../postgres-proxy/proxied-gateway.ts';
import type { Unit } from '../postgres-proxy/unit.ts';
import { book, oslo } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';
import { browserWith, withConsole } from '../requests/console.ts';
import { readMetrics, whyNotFiring } from './alerts.ts';

/** One call that the EHR does not answer opens the breaker. The database is waited for longer than what counts as slow. */
const connection = resolveConnection({
  timeout_ms: 3_000,
  changes_seconds: 0,
  breaker: { failures: 1, reset_seconds: 300 },
});

test('a slow database is told by API, console, log, metric and alert, and is no outage of the EHR', async () => {
  const gateway = await startProxiedGateway({
    intervals: { clock: 200 },
    configure: (demo) => ({
      ...withConsole(demo),
      emrs: demo.emrs.map((emr) => (emr.id === 'sandbox-no' ? { ...emr, connection } : emr)),
    }),
  });
  onTestFinished(() => gateway.close());
  const { browser } = await browserWith(gateway, 'kari', 'view');
  const { id } = await book(gateway);
  const end = gateway.proxy.cutAtRandom({
    random: () => 0,
    share: 1,
    ways: [{ kind: 'delay' }],
    // The look at the clock of the database, and the appointments of the sandbox.
    matches: ({ statements }) => statements.some((it) => /::float8 AS now\b|"sandbox"\."appointments"/.test(it)),
  });
  const ask = () => gateway.request('GET', `${oslo}/appointments/${id}`);
  expect(await ask()).toMatchObject({ status: 503, body: { reason: 'database_unavailable', origin: 'gateway' } });
  const { body } = await gateway.request('GET', '/api/emrs/sandbox-no');
  expect(body).toMatchObject({ status: 'available', breaker: 'closed' });
  const metric = 'crossward_database_answer_seconds';
  const metrics = await eventually(async () => {
    const text = await readMetrics(gateway);
    expect(Number(/^crossward_database_answer_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(1);
    return text;
  });
  const labels = 'severity="warning"';
  expect(whyNotFiring(metrics, { alert: 'CrosswardDatabaseSlow', metric, labels, within: 2 })).toBe('');
  // A minute goes by.
  const { now } = performance;
  const passing = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 61_000);
  onTestFinished(() => passing.mockRestore());
  expect((await browser.open('/console')).text).toMatch(/Database It takes \d+\.\d s to answer/);
  expect((await gateway.request('GET', '/api/events')).text).not.toContain('emr.unavailable');

  end();
  await gateway.proxy.heal();
  await eventually(() => expect(gateway.logLines.join('\n')).toContain('the database answers in time again'));
  expect(gateway.logLines.filter((line) => line.includes('"the database answers slowly"'))).toHaveLength(1);
  expect((await ask()).status).toBe(200);
});

test('doctor says that the database is slow, and that it fails in the middle of a check', async () => {
  const { url = '', dispose } = await createTestDatabase('postgresql');
  const proxy = await startPostgresProxy(url);
  const environment = readEnvironment({ DATABASE_URL: proxy.url });
  const check = async () => {
    const { database, findings } = await checkDatabase(environment, connectors, undefined);
    await database?.close();
    return findings.filter(({ subject }) => subject === 'answer');
  };
  onTestFinished(async () => {
    await proxy.close();
    await dispose();
  });
  const isClock = ({ statements }: Unit) => statements.some((it) => it.includes('::float8 AS now'));
  expect(await check()).toEqual([]);
  proxy.cutNext({ kind: 'delay', holdMilliseconds: 1_100 }, isClock);
  expect(await check()).toEqual([
    expect.objectContaining({ status: 'warning', text: expect.stringMatching(/^it takes \d+\.\d s to answer$/) }),
  ]);
  for (const matches of [isClock, ({ statements }: Unit) => statements.some((it) => it.includes('pg_settings'))]) {
    proxy.cutNext({ kind: 'before' }, matches);
    expect(await check()).toEqual([
      expect.objectContaining({ status: 'problem', text: expect.stringContaining('a statement failed') }),
    ]);
  }
});
