/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { checkWebhooks } from '../../server/src/cli/doctor/check-webhooks.ts';
import { startGateway } from '../gateway/gateway.ts';
import { eventually, rowsOf } from '../requests/codes.ts';
import { browserWith, withConsole } from '../requests/console.ts';
import { startReceiver, status, webhooksOf, withQuickWebhooks } from '../requests/webhook-receiver.ts';
import { readMetrics, whyNotFiring } from './alerts.ts';

const receiver = await startReceiver();
const gateway = await startGateway({
  intervals: { gauges: 200 },
  configure: (demo) => withConsole(withQuickWebhooks(demo)),
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});
const { call, create, deliveries, ended } = webhooksOf(gateway);

const failing = 'crossward_webhook_endpoints_failing';
const failingSince = async (id: string) =>
  (await call<{ failing_since: string | null }>('GET', `/${id}`)).body.failing_since;

test.each([
  { incident: 'is down', reason: 'connection_refused', begin: receiver.goDown },
  { incident: 'answers everything with 500', reason: 'status', begin: async () => receiver.behave(status(500)) },
])(
  'a receiver that $incident is told by API, console, log, metric, alert and doctor',
  async ({ incident, reason, begin }) => {
    const { id } = await create(receiver.url);
    await begin();
    await call('POST', `/${id}/test`);
    await eventually(async () => expect(await deliveries(id)).toEqual([expect.objectContaining({ reason })]));
    expect(await failingSince(id)).toBeNull();
    expect(await readMetrics(gateway)).toContain(`${failing} 0`);
    // A minute goes by.
    await rowsOf(gateway, "UPDATE webhook_deliveries SET created_at = created_at - interval '61 seconds'");
    expect(await failingSince(id)).toMatch(/^\d{4}-/);
    const { browser } = await browserWith(gateway, `operator-${reason}`, 'view');
    expect((await browser.open('/console')).text).toMatch(
      /Webhooks of \S+ to 127\.0\.0\.1:\d+ 1 event is not delivered yet/,
    );
    expect(
      gateway.logLines.filter((line) => line.includes('"attempts to deliver webhooks fail"') && line.includes(id)),
    ).toEqual([expect.stringContaining(`"reason":"${reason}"`)]);
    const [line] = await eventually(async () => {
      const lines = (await readMetrics(gateway)).split('\n').filter((it) => it.startsWith(`${failing} `));
      expect(lines).toEqual([`${failing} 1`]);
      return lines;
    });
    const labels = 'severity="warning"';
    expect(whyNotFiring(line ?? '', { alert: 'CrosswardWebhooksFailing', metric: failing, labels, within: 2 })).toBe(
      '',
    );
    expect(await checkWebhooks(gateway.database)).toEqual([
      expect.objectContaining({ status: 'warning', text: expect.stringContaining(`the endpoint ${id} of `) }),
    ]);

    receiver.behave(status(204));
    if (incident === 'is down') await receiver.comeBack();
    await ended(id, 1);
    expect(await failingSince(id)).toBeNull();
    await eventually(async () => expect(await readMetrics(gateway)).toContain(`${failing} 0`));
    await call('DELETE', `/${id}`);
  },
);
