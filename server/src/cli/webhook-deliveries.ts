import type { Command } from 'commander';
import { Problem } from '../problems/problem.ts';
import { redeliverEvent, replayEvents, sendTestEvent } from '../webhooks/delivery-actions.ts';
import { endpointOf } from '../webhooks/operator.ts';
import { readInstant } from './read-time.ts';
import type { RunAction } from './webhook-action.ts';

/** Commands that deliver events to an endpoint. */
export function addWebhookDeliveries(webhooks: Command, run: RunAction): void {
  webhooks
    .command('test')
    .description('Send a test event to an endpoint.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .action((target: string) =>
      run('webhook_test', async (tx) => {
        await sendTestEvent(tx, target, '');
        return { target, text: 'The test event is queued. A running gateway sends it within seconds.\n' };
      }),
    );
  webhooks
    .command('redeliver')
    .description('Deliver an event again.')
    .argument('<delivery>', 'delivery id from `deliveries`')
    .action((id: string) =>
      run('webhook_redeliver', async (tx) => {
        const target = await endpointOf(tx, id);
        if (target === undefined) throw new Problem('webhook_delivery_not_found', { detail: noDelivery });
        await redeliverEvent(tx, target, id);
        return { target, text: 'The delivery is queued.\n' };
      }),
    );
  webhooks
    .command('replay')
    .description('Deliver every event since a time again.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .requiredOption('--from <time>', 'RFC 3339 with an offset, such as 2030-03-15T09:00:00Z')
    .action(async (target: string, { from }: { readonly from: string }) => {
      const time = readInstant('--from', from);
      await run('webhook_replay', async (tx) => {
        await replayEvents(tx, target, time);
        return { target, text: 'The replay has started.\n' };
      });
    });
}

const noDelivery = 'No delivery has this id. Deliveries are deleted together with old events.';
